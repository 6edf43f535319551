"""Peers for the scenarios, on loopback.

serve PORT...                answers every byte with the same, for ever
ask PORT                     one connect, one byte there and back
hold PORT SECONDS            one connection, a byte there and back every 100 ms, for SECONDS; says how it ended
storm PORT RATE STOP-FILE    RATE connects a second, each with one byte there and back, until STOP-FILE is there;
                             one line: connects, answered, refused, reset before the answer, ended or silent for 20 s
"""
import asyncio
import os
import resource
import sys

BOUND = 20


async def echo(reader, writer):
    try:
        while data := await reader.read(4096):
            writer.write(data)
            await writer.drain()
    except OSError:
        pass
    finally:
        writer.close()


async def serve(*ports):
    servers = [await asyncio.start_server(echo, "127.0.0.1", int(port), backlog=4096) for port in ports]
    await asyncio.gather(*(server.serve_forever() for server in servers))


async def exchange(port):
    reader, writer = await asyncio.open_connection("127.0.0.1", int(port))
    try:
        writer.write(b"x")
        return await reader.read(1)
    finally:
        writer.close()


async def ask(port):
    try:
        answer = await asyncio.wait_for(exchange(port), BOUND)
        print("answered" if answer == b"x" else "ended")
    except asyncio.TimeoutError:
        print("silent")
    except OSError as e:
        print(e.__class__.__name__)


async def hold(port, seconds):
    loop = asyncio.get_running_loop()
    until = loop.time() + float(seconds)
    reader, writer = await asyncio.open_connection("127.0.0.1", int(port))
    try:
        while loop.time() < until:
            writer.write(b"x")
            if not await reader.read(1):
                print("ended")
                return
            await asyncio.sleep(0.1)
        print("held")
    except ConnectionResetError:
        print("reset")


async def storm(port, rate, stop_file):
    counts = dict(connects=0, answered=0, refused=0, reset=0, ended=0, silent=0)

    async def one():
        try:
            answer = await asyncio.wait_for(exchange(port), BOUND)
            counts["answered" if answer == b"x" else "ended"] += 1
        except asyncio.TimeoutError:  # an OSError too
            counts["silent"] += 1
        except ConnectionRefusedError:
            counts["refused"] += 1
        except OSError:
            counts["reset"] += 1

    loop = asyncio.get_running_loop()
    start = loop.time()
    tasks = set()
    while not os.path.exists(stop_file):
        while counts["connects"] < (loop.time() - start) * float(rate):
            counts["connects"] += 1
            task = loop.create_task(one())
            tasks.add(task)
            task.add_done_callback(tasks.discard)
        await asyncio.sleep(0.005)
    if tasks:
        await asyncio.wait(tasks)
    print(" ".join(f"{name}={count}" for name, count in counts.items()))


if __name__ == "__main__":
    # Connects that wait for the service to come back are many at a time.
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    asyncio.run(globals()[sys.argv[1]](*sys.argv[2:]))
