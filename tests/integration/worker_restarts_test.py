"""An operator restarts the server at noon while 200 workers have jobs, and no worker sees it.

    worker_restarts_test.py           12 restarts in a minute
    worker_restarts_test.py --long    50 restarts, jobs of up to a minute: a quarter of an hour

The server is killed, stopped, and upgraded: stopped, and started from another program file. Sometimes it stays away for longer than
the shortest leases last. The rules and the excuses are in living_workers.py. The seed is printed and can be given as
DUEWHEEL_SEED.
"""

import argparse
import asyncio
import os
import random
import shutil

from daemon import BIN, Daemon
from living_workers import Crew, Load

SHORT = Load(workers=200, work_s=(0.5, 8), lease_s=(3, 6, 12), falls=12, rest_s=(0.3, 3))
LONG = Load(workers=200, work_s=(1, 60), lease_s=(15, 30, 60), falls=50, rest_s=(1, 25))


class Server(Daemon):
    """One that is started on the same port again, from either of two program files."""

    def __init__(self, **how):
        super().__init__(**how)
        self.other = self.directory / "duewheeld"
        shutil.copy(self.program, self.other)

    async def begin(self):
        await asyncio.to_thread(self.start)
        self.listen = f"127.0.0.1:{self.port}"

    async def restart(self, how, away_s):
        if how == "kill":
            await asyncio.to_thread(self.kill)
        else:
            code = await asyncio.to_thread(self.terminate)
            assert code == 0, self.log_text()[-3000:]
        if how == "upgrade":
            self.program, self.other = self.other, self.program
        await asyncio.sleep(away_s)
        await self.begin()


async def run(load, seed):
    randomness = random.Random(seed)
    with Server() as server:
        await server.begin()
        crew = Crew([server.port], load, seed)
        crew.start()
        try:
            for number in range(load.falls):
                await crew.go_on(randomness.uniform(*load.rest_s))
                how = ("kill", "stop", "kill", "upgrade")[number % 4]
                crew.falls_now(forgets=how == "kill")
                await server.restart(how, load.lease_s[0] * 1.2 if number % 5 == 4 else 0)
                crew.serves_again()
            await crew.finish()
            await crew.judge()
        finally:
            await crew.stop()
        print(crew.report())
        assert server.terminate() == 0, server.log_text()[-3000:]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--long", action="store_true", help="50 restarts and jobs of up to a minute")
    options = parser.parse_args()
    seed = int(os.environ.get("DUEWHEEL_SEED", str(random.randrange(1 << 32))))
    print(f"seed {seed}", flush=True)
    asyncio.run(run(LONG if options.long else SHORT, seed))
    print("OK")


if __name__ == "__main__":
    main()
