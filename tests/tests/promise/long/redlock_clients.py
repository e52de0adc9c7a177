"""redlock-py or pottery, told what to do line by line, each line answered with one line."""

import random
import sys
import time

import redis

kind, *ports = sys.argv[1:]
nodes = [{"host": "127.0.0.1", "port": int(port)} for port in ports]


class RedlockPy:
    def __init__(self):
        import redlock

        self.manager = redlock.Redlock(nodes, retry_count=1)

    def acquire(self, name, seconds):
        self.lock = self.manager.lock(name, int(seconds * 1000))
        return bool(self.lock)

    def release(self):
        self.manager.unlock(self.lock)


class Pottery:
    def __init__(self):
        self.masters = {redis.Redis(**node) for node in nodes}

    def acquire(self, name, seconds):
        import pottery

        # It prefixes the name itself.
        name = name.removeprefix("redlock:")
        self.lock = pottery.Redlock(key=name, masters=self.masters, auto_release_time=seconds)
        return self.lock.acquire(blocking=False)

    def release(self):
        self.lock.release()


client = {"redlock-py": RedlockPy, "pottery": Pottery}[kind]()
data = redis.Redis(**nodes[0])

for line in sys.stdin:
    command, *words = line.split()
    if command == "acquire":  # NAME SECONDS
        answer = "held" if client.acquire(words[0], float(words[1])) else "busy"
    elif command == "release":
        client.release()
        answer = "released"
    elif command == "count":  # NAME ROUNDS COUNTER
        for _ in range(int(words[1])):
            while not client.acquire(words[0], 30):
                time.sleep(0.002 + 0.005 * random.random())
            data.set(words[2], int(data.get(words[2]) or 0) + 1)
            client.release()
        answer = "counted"
    print(answer, flush=True)
