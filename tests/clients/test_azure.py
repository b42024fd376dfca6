"""Azure's clients ask `serve --as azure`: image analysis 4.0 and 3.2, and Face."""

import io
import pathlib
import tempfile
import unittest

from azure.ai.vision.face import FaceClient
from azure.ai.vision.face.models import FaceDetectionModel, FaceRecognitionModel
from azure.ai.vision.imageanalysis import ImageAnalysisClient
from azure.ai.vision.imageanalysis.models import VisualFeatures
from azure.cognitiveservices.vision.computervision import ComputerVisionClient
from azure.cognitiveservices.vision.computervision.models import (
    ComputerVisionErrorResponseException,
    VisualFeatureTypes,
)
from azure.core.credentials import AzureKeyCredential
from azure.core.exceptions import ClientAuthenticationError, HttpResponseError
from msrest.authentication import CognitiveServicesCredentials
from serving import CLASSIFIER, DETECTOR, Serving, objects, ranking, scenes, single

KEY = "0123456789abcdef"


def four(serving, key=KEY):
    return ImageAnalysisClient(serving.url, AzureKeyCredential(key), retry_total=0)


def three(serving, key=KEY):
    return ComputerVisionClient(serving.url, CognitiveServicesCredentials(key))


def in_pixels(box):
    """Left, top, width and height in whole pixels, as Azure tells them."""
    left, top, right, bottom = (round(side) for side in box)
    return [left, top, right - left, bottom - top]


class Azure(unittest.TestCase):
    def test_tags(self):
        with Serving(CLASSIFIER, "azure", "--key", KEY) as serving:
            for path in scenes():
                content = path.read_bytes()
                answer = four(serving).analyze(content, visual_features=[VisualFeatures.TAGS])
                got = [(tag.name, single(tag.confidence)) for tag in answer.tags.list]
                self.assertEqual(got, ranking(path))
                self.assertEqual(answer.model_version, serving.version)
                features = [VisualFeatureTypes.tags]
                answer = three(serving).analyze_image_in_stream(io.BytesIO(content), features)
                got = [(tag.name, single(tag.confidence)) for tag in answer.tags]
                self.assertEqual(got, ranking(path))

    def test_objects(self):
        with Serving(DETECTOR, "azure", "--key", KEY) as serving:
            for path in scenes():
                content = path.read_bytes()
                wanted = [(name, score, in_pixels(box)) for name, score, box in objects(path)]
                answer = four(serving).analyze(content, visual_features=[VisualFeatures.OBJECTS])
                got = []
                for found in answer.objects.list:
                    box, tag = found.bounding_box, found.tags[0]
                    sides = [box.x, box.y, box.width, box.height]
                    got.append((tag.name, single(tag.confidence), sides))
                self.assertEqual(got, wanted)
                got = []
                for found in three(serving).detect_objects_in_stream(io.BytesIO(content)).objects:
                    box = found.rectangle
                    sides = [box.x, box.y, box.w, box.h]
                    got.append((found.object_property, single(found.confidence), sides))
                self.assertEqual(got, wanted)

    def test_faces(self):
        with tempfile.TemporaryDirectory() as folder:
            labels = pathlib.Path(folder) / "labels.txt"
            labels.write_text("face\nsign\ntruck\n")
            more = ["--key", KEY, "--labels", str(labels)]
            with Serving(DETECTOR, "azure", *more) as serving:
                client = FaceClient(serving.url, AzureKeyCredential(KEY), retry_total=0)
                told = 0
                for path in scenes():
                    found = client.detect(
                        path.read_bytes(),
                        detection_model=FaceDetectionModel.DETECTION03,
                        recognition_model=FaceRecognitionModel.RECOGNITION04,
                        return_face_id=False,
                    )
                    boxes = [face.face_rectangle for face in found]
                    got = [[box.left, box.top, box.width, box.height] for box in boxes]
                    # The detector's first class is called a car elsewhere.
                    wanted = [in_pixels(box) for name, _, box in objects(path) if name == "car"]
                    self.assertEqual(got, wanted)
                    told += len(got)
                self.assertGreater(told, 0)

    def test_errors(self):
        content = scenes()[0].read_bytes()
        with Serving(CLASSIFIER, "azure", "--key", KEY) as serving:
            with self.assertRaises(HttpResponseError) as caught:
                four(serving).analyze(b"no image", visual_features=[VisualFeatures.TAGS])
            self.assertEqual(caught.exception.error.innererror["code"], "InvalidImageFormat")
            with self.assertRaises(HttpResponseError):
                four(serving).analyze(content, visual_features=[VisualFeatures.READ])
            with self.assertRaises(ClientAuthenticationError):
                four(serving, "wrong").analyze(content, visual_features=[VisualFeatures.TAGS])
            with self.assertRaises(ComputerVisionErrorResponseException):
                three(serving).tag_image_in_stream(io.BytesIO(b"no image"))
        with Serving(CLASSIFIER, "azure", "--misbehave", "throttle=1") as serving:
            with self.assertRaises(HttpResponseError) as caught:
                four(serving).analyze(content, visual_features=[VisualFeatures.TAGS])
            self.assertEqual(caught.exception.status_code, 429)
