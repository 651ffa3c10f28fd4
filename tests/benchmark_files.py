"""Small files in the formats of the benchmarks, by the names in docs/scoring.md."""

import json

TVR = {"vid_name": "v", "duration": 90.0, "ts": [0.0, 20.0], "desc": "A dog.", "desc_id": 1}
QV = {"qid": 1, "query": "A dog.", "duration": 150, "vid": "v"}
CLIP = {"clip_uid": "c", "annotation_uid": "a"}
MOMENT = {"pair_id": 0, "video_name": "v", "timestamp": [0.0, 20.0], "duration": 90.0,
          "caption": "A dog.", "similarity": 0.9, "relevance": 4}  # fmt: skip

FILES = {
    "highlight_val_release.jsonl": {**QV, "relevant_windows": [[0, 20]]},
    "hl_val_submission.jsonl": {**QV, "pred_relevant_windows": [[0.0, 18.0, 0.9]]},
    "tvr_val_release.jsonl": TVR,
    "tvr_predictions.json": {
        "video2idx": {"v": 0},
        "VCMR": [{"desc_id": 1, "desc": "A dog.", "predictions": [[0, 0.0, 18.0, 0.9]]}],
    },
    "charades_sta_test.txt": "v 0.0 20.0##a dog.\n",
    "charades_predictions.json": [[[0.0, 18.0]]],
    "val_1.json": {"v": {"duration": 90.0, "timestamps": [[0, 20.0]], "sentences": ["A dog."]}},
    "anet_submission.json": {
        "results": {"v": [{"sentence": "A dog.", "timestamp": [0.0, 18.0], "score": 0.9}]}
    },
    "val_data.json": [{"annotation_id": 1, "video": "v", "times": [[0, 3]], "num_segments": 6}],
    "lists.json": [[[0, 3]]],
    "nlq_val.json": {
        "videos": [
            {
                "clips": [
                    {
                        "clip_uid": "c",
                        "annotations": [
                            {
                                "annotation_uid": "a",
                                "language_queries": [{"clip_start_sec": 0, "clip_end_sec": 20}],
                            }
                        ],
                    }
                ]
            }
        ]
    },
    "nlq_submission.json": {
        "results": [{**CLIP, "query_idx": 0, "predicted_times": [[0.0, 18.0]]}]
    },
    "test.json": [{"query_id": 1, "query": "A dog.", "relevant_moment": [MOMENT]}],
    "predictions.json": [{"query_id": 1, "predictions": [["v", 0.0, 18.0, 0.9]]}],
    "me.qrels": "q Q0 v 0.00 0.20 1\n",
    "me.run": "q Q0 v 0.00 0.18 0.00 1 0.9 t\n",
    "test.qrels": "q Q0 v 0.0 20.0 1\n",
    "my.run": "q Q0 v 0.0 18.0 1 0.9 t\n",
}


def write(folder):
    """Write all of them."""
    for name, content in FILES.items():
        text = content if isinstance(content, str) else json.dumps(content) + "\n"
        (folder / name).write_text(text)
