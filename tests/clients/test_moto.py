"""Our own connector asks moto's Rekognition, which answers every image alike."""

import csv
import os
import pathlib
import subprocess
import tempfile
import unittest

import boto3
from moto.server import ThreadedMotoServer
from serving import FAULTLENS, scenes

CAMPAIGN = """
targets:
  - {{name: labels, service: {{provider: rekognition, task: labels, endpoint: '{url}', region: us-east-1}}}}
  - {{name: text, service: {{provider: rekognition, task: text, endpoint: '{url}', region: us-east-1}}}}
cases: {{data: {data}, format: images}}
faults: [{{fault: gaussian_noise, severity: 2}}]
oracle: {oracle}
"""


class Moto(unittest.TestCase):
    def setUp(self):
        self.server = ThreadedMotoServer(port=0, verbose=False)
        self.server.start()
        host, port = self.server.get_host_and_port()
        self.url = f"http://127.0.0.1:{port}"
        self.addCleanup(self.server.stop)

    def answers(self, target, oracle):
        """The answers of one target under faults, by a campaign in a fresh folder."""
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            data = scenes()[0].parent
            lines = CAMPAIGN.format(url=self.url, data=data, oracle=oracle).splitlines()
            kept = [line for line in lines if "name:" not in line or f"name: {target}," in line]
            (folder / "c.yaml").write_text("\n".join(kept))
            environment = {k: v for k, v in os.environ.items() if not k.startswith("AWS_")}
            for args in (["run", "c.yaml"], ["export", "runs/c", "-o", "records.csv"]):
                done = subprocess.run(
                    [FAULTLENS, *args], cwd=folder, env=environment, capture_output=True, text=True
                )
                self.assertEqual(done.returncode, 0, done.stderr)
            with open(folder / "records.csv", newline="") as table:
                return [(row["outcome"], row["answer"]) for row in csv.DictReader(table)]

    def client(self):
        keys = {"aws_access_key_id": "x", "aws_secret_access_key": "x"}
        return boto3.client("rekognition", endpoint_url=self.url, region_name="us-east-1", **keys)

    def test_labels(self):
        image = {"Bytes": scenes()[0].read_bytes()}
        labels = self.client().detect_labels(Image=image)["Labels"]
        best = max(labels, key=lambda label: label["Confidence"])["Name"]
        answers = self.answers("labels", "same_top")
        self.assertGreater(len(answers), 0)
        self.assertEqual(set(answers), {("unchanged", best)})

    def test_text(self):
        image = {"Bytes": scenes()[0].read_bytes()}
        found = self.client().detect_text(Image=image)["TextDetections"]
        lines = "\n".join(one["DetectedText"] for one in found if one["Type"] == "LINE")
        self.assertEqual(set(self.answers("text", "same_text")), {("unchanged", lines)})
