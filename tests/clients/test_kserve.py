"""tritonclient asks `serve --as kserve`, with tensors in JSON and binary."""

import unittest

import numpy as np
import tritonclient.http as triton
from serving import CLASSIFIER, Serving
from tritonclient.utils import InferenceServerException


class Kserve(unittest.TestCase):
    def setUp(self):
        serving = Serving(CLASSIFIER, "kserve")
        self.serving = self.enterContext(serving)
        address = self.serving.url.removeprefix("http://")
        self.client = triton.InferenceServerClient(address, network_timeout=30.0)
        self.addCleanup(self.client.close)

    def infer(self, numbers, binary_in, binary_out, version=""):
        about = self.client.get_model_metadata(self.serving.model)
        given = triton.InferInput(about["inputs"][0]["name"], numbers.shape, "FP32")
        given.set_data_from_numpy(numbers, binary_data=binary_in)
        name = about["outputs"][0]["name"]
        wanted = triton.InferRequestedOutput(name, binary_data=binary_out)
        answer = self.client.infer(
            self.serving.model, [given], outputs=[wanted], model_version=version, request_id="7"
        )
        self.assertEqual(answer.get_response()["id"], "7")
        return answer.as_numpy(name)

    def test_health_and_metadata(self):
        self.assertTrue(self.client.is_server_live())
        self.assertTrue(self.client.is_server_ready())
        self.assertTrue(self.client.is_model_ready(self.serving.model))
        self.assertFalse(self.client.is_model_ready("other"))
        self.assertIn("binary_tensor_data", self.client.get_server_metadata()["extensions"])
        about = self.client.get_model_metadata(self.serving.model, self.serving.version)
        self.assertEqual(about["versions"], [self.serving.version])
        self.assertEqual(about["inputs"][0]["shape"], [-1, 3, 48, 48])

    def test_the_same_bits_in_json_and_binary(self):
        numbers = np.random.default_rng(1).random((2, 3, 48, 48), dtype=np.float32)
        first = self.infer(numbers, True, True)
        self.assertEqual(first.shape, (2, 14))
        self.assertEqual(first.dtype, np.float32)
        for way in [(True, False), (False, True), (False, False)]:
            np.testing.assert_array_equal(self.infer(numbers, *way, self.serving.version), first)
        alone = self.infer(numbers[1:], True, True)
        np.testing.assert_array_equal(alone, first[1:])

    def test_errors(self):
        numbers = np.zeros((1, 3, 48, 47), dtype=np.float32)
        with self.assertRaises(InferenceServerException):
            self.infer(numbers, True, True)
        with self.assertRaises(InferenceServerException):
            self.infer(np.zeros((1, 3, 48, 48), dtype=np.float32), True, True, "9")
        with self.assertRaises(InferenceServerException):
            self.client.get_model_metadata("other")
