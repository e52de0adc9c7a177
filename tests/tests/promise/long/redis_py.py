"""redis-py's own lock, told what to do line by line, each line answered with one line."""

import sys

import redis

server = redis.Redis(port=int(sys.argv[1]))
lock = None

for line in sys.stdin:
    command, *words = line.split()
    if command == "acquire":  # NAME SECONDS
        lock = server.lock(words[0], timeout=float(words[1]))
        answer = "held" if lock.acquire(blocking=False) else "busy"
    elif command == "release":
        try:
            lock.release()
            answer = "released"
        except redis.exceptions.LockError:
            answer = "not ours"
    elif command == "count":  # NAME ROUNDS COUNTER
        for _ in range(int(words[1])):
            with server.lock(words[0], timeout=30, sleep=0.002, blocking_timeout=60):
                seen = int(server.get(words[2]) or 0)
                server.set(words[2], seen + 1)
        answer = "counted"
    print(answer, flush=True)
