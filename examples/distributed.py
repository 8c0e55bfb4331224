"""Evaluate a PyTorch model in several processes. Each process ranks a part of the users.

python examples/distributed.py      starts two processes that communicate through gloo
"""

import tempfile
from pathlib import Path

import torch
from torch import distributed, multiprocessing
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler

import germane

USERS, ITEMS = 1001, 5000  # an odd number of users: the sampler gives two processes one user twice
MODEL = torch.randn(USERS + ITEMS, 16, generator=torch.Generator().manual_seed(1))
USER_VECTORS, ITEM_VECTORS = MODEL[:USERS], MODEL[USERS:]
RELEVANT = {user: [user, user + 1000, user + 2000] for user in range(USERS)}


def evaluate_part(loader: DataLoader) -> germane.types.Result | None:
    """Rank this process's part of the users; the first process returns the result of all parts."""
    evaluator = germane.Evaluator(RELEVANT, "nDCG@10 R@100", twice="first")
    for users, vectors in loader:
        best = (vectors @ ITEM_VECTORS.T).topk(100).indices
        evaluator.update(dict(zip(users.tolist(), best, strict=True)))
    everyone = [None] * distributed.get_world_size() if distributed.get_rank() == 0 else None
    distributed.gather_object(evaluator, everyone)
    if everyone is None:
        return None
    for other in everyone[1:]:
        everyone[0].merge(other)
    return everyone[0].result()


def run_process(rank: int, processes: int, meeting: str) -> None:
    """Evaluate one part of the users, and print the result of all beside that of one process."""
    distributed.init_process_group("gloo", meeting, rank=rank, world_size=processes)
    data = TensorDataset(torch.arange(USERS), USER_VECTORS)
    result = evaluate_part(DataLoader(data, batch_size=64, sampler=DistributedSampler(data)))
    if result is not None:
        best = (USER_VECTORS @ ITEM_VECTORS.T).topk(100).indices
        alone = germane.evaluate(RELEVANT, dict(enumerate(best)), "nDCG@10 R@100")
        for one, other in zip(result.values(), alone.values(), strict=True):
            print(f"{one.measure}: {one.mean!r} in {processes} processes, {other.mean!r} in one")
    distributed.destroy_process_group()


def main(processes: int = 2) -> None:
    with tempfile.TemporaryDirectory() as folder:
        meeting = (Path(folder) / "meeting").as_uri()
        multiprocessing.spawn(run_process, (processes, meeting), processes)


if __name__ == "__main__":
    main()
