// A process without free file descriptors logs that once, and accepts connections again when there are some.
import { deepEqual, equal, match } from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Socket } from 'node:net'
import { createInterface } from 'node:readline'
import { test } from 'node:test'
import { allFrom, authority, acceptors, serving, tcp, tls } from './listener.harness.ts'

const descriptorsMax = 64

interface Line {
  readonly level: string
  readonly message: string
  readonly port?: number
}

for (const place of Object.keys(acceptors))
  test(`${place}: a lack of file descriptors is logged once, and passes`, async () => {
    const file = new URL('file-descriptors.harness.ts', import.meta.url).pathname
    const identity = [authority.certificate, serving.certificate, serving.key]
    const child = spawn(
      'sh',
      ['-c', `ulimit -n ${descriptorsMax} && exec "$0" "$@"`, process.execPath, file, place, ...identity],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    )
    const lines = createInterface(child.stdout)[Symbol.asyncIterator]()
    const next = async () => JSON.parse((await lines.next()).value ?? '{}') as Line
    const { port = 0 } = await next()
    // Rejected connections are closed; further ones are not logged.
    const sockets: Socket[] = []
    for (let round = 0; round < 3; round++)
      for (let count = 0; count < descriptorsMax; count++) sockets.push(await tcp(port))
    const { level, message } = await next()
    deepEqual([level, message], ['error', 'connections cannot be accepted: no file descriptor is free'])
    for (const socket of sockets) socket.destroy()
    // The server observes it asynchronously.
    const answer = async (): Promise<string> => {
      const socket = await tls(port).catch(() => undefined)
      if (socket === undefined) return answer()
      socket.write('GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')
      return (await allFrom(socket)) || answer()
    }
    match(await answer(), /^HTTP\/1\.1 200 OK\r\n/)
    child.kill('SIGKILL')
    await once(child, 'exit')
    equal((await lines.next()).done, true, 'nothing more was logged')
  })
