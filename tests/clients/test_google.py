"""google-cloud-vision asks `serve --as google`, over REST."""

import unittest

from google.api_core import exceptions
from google.auth.credentials import AnonymousCredentials
from google.auth.exceptions import RefreshError
from google.cloud import vision
from google.cloud.vision_v1.services.image_annotator.transports.rest import (
    ImageAnnotatorRestTransport,
)
from google.oauth2.credentials import Credentials
from serving import CLASSIFIER, DETECTOR, Serving, objects, ranking, scenes

LABELS = vision.Feature.Type.LABEL_DETECTION
OBJECTS = vision.Feature.Type.OBJECT_LOCALIZATION
TEXT = vision.Feature.Type.TEXT_DETECTION


def client(serving, credentials=None):
    transport = ImageAnnotatorRestTransport(
        host=serving.url.removeprefix("http://"),
        url_scheme="http",
        credentials=credentials or AnonymousCredentials(),
    )
    return vision.ImageAnnotatorClient(transport=transport)


def annotated(client, content, feature):
    request = {"image": {"content": content}, "features": [{"type_": feature, "max_results": 99}]}
    return client.annotate_image(request, retry=None, timeout=30)


class Google(unittest.TestCase):
    def test_labels(self):
        with Serving(CLASSIFIER, "google") as serving:
            for path in scenes():
                answer = annotated(client(serving), path.read_bytes(), LABELS)
                got = [(label.description, label.score) for label in answer.label_annotations]
                self.assertEqual(got, ranking(path))

    def test_objects(self):
        with Serving(DETECTOR, "google") as serving:
            for path in scenes():
                answer = annotated(client(serving), path.read_bytes(), OBJECTS)
                got = answer.localized_object_annotations
                wanted = objects(path)
                self.assertEqual([(o.name, o.score) for o in got], [o[:2] for o in wanted])
                for found, (_, _, box) in zip(got, wanted):
                    corners = found.bounding_poly.normalized_vertices
                    sides = [corners[0].x, corners[0].y, corners[2].x, corners[2].y]
                    # The client keeps shares in 32 bits, so that the last bit is lost.
                    for side, exact in zip(sides, box):
                        self.assertAlmostEqual(side * 128, exact, delta=1e-4)

    def test_errors(self):
        with Serving(CLASSIFIER, "google", "--key", "open sesame") as serving:
            content = scenes()[0].read_bytes()
            good = client(serving, Credentials("open sesame"))
            self.assertEqual(annotated(good, b"no image", LABELS).error.code, 3)
            self.assertEqual(annotated(good, content, TEXT).error.code, 3)
            self.assertFalse(annotated(good, content, LABELS).error.message)
            with self.assertRaises(exceptions.Forbidden):
                annotated(client(serving), content, LABELS)
            # Told 401, the client tries to renew its token, and cannot.
            with self.assertRaises(RefreshError):
                annotated(client(serving, Credentials("wrong")), content, LABELS)
        for misbehaviour, wanted in [
            ("throttle=1", exceptions.TooManyRequests),
            ("error=1", exceptions.ServerError),
        ]:
            with Serving(CLASSIFIER, "google", "--misbehave", misbehaviour) as serving:
                with self.assertRaises(wanted):
                    annotated(client(serving), content, LABELS)
