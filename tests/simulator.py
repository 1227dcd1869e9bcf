"""Numba's simulator of a device, whose lanes wait for each other instead of being asked over and over whether they do.

As it comes, the thread that started a block looks in a circle at every lane, and the lanes get the interpreter only
when it has had its turn. A lane that meets the others here sleeps until the last of them has come or ended.
"""

import threading

import numpy as np
from numba.cuda.simulator import kernel

from topiarist.kernels.cuda import warp


class Meeting:
    """Where the lanes of one block wait for each other."""

    def __init__(self, lanes):
        self.turn = threading.Condition()
        self.lanes, self.waiting, self.round, self.failed = lanes, 0, 0, False

    def wait(self):
        with self.turn:
            mine, self.waiting = self.round, self.waiting + 1
            self._go_on()
            self.turn.wait_for(lambda: self.round != mine or self.failed)
            if self.failed:
                raise RuntimeError("another lane has failed")

    def leave(self, *, failed):
        with self.turn:
            self.lanes, self.failed = self.lanes - 1, self.failed or failed
            self._go_on()
            if failed:
                self.turn.notify_all()

    def _go_on(self):
        if self.waiting and self.waiting == self.lanes:
            self.waiting, self.round = 0, self.round + 1
            self.turn.notify_all()


def _run(block, grid_point, *arguments):
    """Run a block to its end; the first failure of a lane is raised."""
    points = list(np.ndindex(*block._block_dim))
    block.meeting, failures = Meeting(len(points)), []

    def lane():
        failed = True
        try:
            block._f(*arguments)
            failed = False
        except Exception as error:
            failures.append(error)
        finally:
            block.meeting.leave(failed=failed)

    threads = [kernel.BlockThread(lane, block, grid_point, point, block._debug) for point in points]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]


def patient():
    """Let lanes wait from now on, for this process; on a device there is nothing to do."""
    if not warp.IS_SIMULATED:
        return
    kernel.BlockManager.run = _run
    kernel.BlockThread.syncthreads = lambda thread: thread._manager.meeting.wait()
