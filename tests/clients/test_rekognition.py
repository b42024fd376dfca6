"""boto3 asks `serve --as rekognition`; its signatures are checked."""

import unittest

import boto3
import botocore.exceptions
from botocore.config import Config
from serving import CLASSIFIER, DETECTOR, Serving, objects, ranking, scenes, single

KEY = ("AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY")


def client(serving, secret=KEY[1], attempts=1):
    return boto3.client(
        "rekognition",
        endpoint_url=serving.url,
        region_name="eu-central-1",
        aws_access_key_id=KEY[0],
        aws_secret_access_key=secret,
        config=Config(retries={"total_max_attempts": attempts, "mode": "standard"}),
    )


class Rekognition(unittest.TestCase):
    def test_labels(self):
        with Serving(CLASSIFIER, "rekognition", "--key", ":".join(KEY)) as serving:
            for path in scenes():
                image = {"Bytes": path.read_bytes()}
                answer = client(serving).detect_labels(Image=image, MinConfidence=0)
                got = [(l["Name"], single(l["Confidence"] / 100)) for l in answer["Labels"]]
                self.assertEqual(got, ranking(path))
                self.assertEqual(answer["LabelModelVersion"], serving.version)
            answer = client(serving).detect_moderation_labels(Image=image, MinConfidence=0)
            got = [(l["Name"], single(l["Confidence"] / 100)) for l in answer["ModerationLabels"]]
            self.assertEqual(got, ranking(path))
            answer = client(serving).recognize_celebrities(Image=image)
            self.assertEqual(answer["CelebrityFaces"][0]["Name"], ranking(path)[0][0])

    def test_objects(self):
        with Serving(DETECTOR, "rekognition", "--key", ":".join(KEY)) as serving:
            for path in scenes():
                image = {"Bytes": path.read_bytes()}
                answer = client(serving).detect_labels(Image=image, MinConfidence=0)
                got = []
                for label in answer["Labels"]:
                    for instance in label["Instances"]:
                        box = instance["BoundingBox"]
                        left, top = box["Left"], box["Top"]
                        sides = [left, top, left + box["Width"], top + box["Height"]]
                        score = single(instance["Confidence"] / 100)
                        got.append((label["Name"], score, [single(side * 128) for side in sides]))
                self.assertEqual(sorted(got), sorted(objects(path)))

    def test_errors(self):
        path = scenes()[0]
        image = {"Bytes": path.read_bytes()}
        with Serving(CLASSIFIER, "rekognition", "--key", ":".join(KEY)) as serving:
            good = client(serving)
            with self.assertRaises(good.exceptions.InvalidImageFormatException):
                good.detect_labels(Image={"Bytes": b"no image"})
            with self.assertRaises(good.exceptions.InvalidParameterException):
                good.detect_text(Image=image)
            with self.assertRaises(botocore.exceptions.ClientError) as caught:
                client(serving, secret="wrong").detect_labels(Image=image)
            code = caught.exception.response["Error"]["Code"]
            self.assertEqual(code, "InvalidSignatureException")

    def test_throttling_is_repeated(self):
        image = {"Bytes": scenes()[0].read_bytes()}
        with Serving(CLASSIFIER, "rekognition", "--misbehave", "throttle=0.4,error=0.2") as serving:
            patient = client(serving, attempts=10)
            for _ in range(5):
                self.assertIn("Labels", patient.detect_labels(Image=image))
        with Serving(CLASSIFIER, "rekognition", "--misbehave", "throttle=1") as serving:
            impatient = client(serving)
            with self.assertRaises(impatient.exceptions.ThrottlingException):
                impatient.detect_labels(Image=image)
