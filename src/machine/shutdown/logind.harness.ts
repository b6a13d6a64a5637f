// A message bus with a logind on it, for tests: it tells of shutdowns as the test says, and holds them up while a lock is held.
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { realClock } from '../../base/time/clock.ts'
import type { Processes } from '../../platform/process/processes.ts'
import {
  decodeMessage,
  encodeMessage,
  messageBytes,
  type DbusMessage,
  type DbusValue,
} from '../../wire/dbus/dbus-message.ts'
import type { ShutdownUnderTest } from './shutdown-contract.suite.ts'
import { NodeLogind } from './node-logind.ts'

const uidText = new TextEncoder().encode(String(process.getuid?.() ?? 0)).toHex()

export interface FakeLogind extends ShutdownUnderTest {
  readonly calls: readonly string[]
  /** Cuts all connections. */
  hangUp(): void
}

export async function fakeLogind(delayMsMax: number): Promise<FakeLogind> {
  const folder = await mkdtemp(join(tmpdir(), 'coxswain-logind-'))
  const calls: string[] = []
  const sockets = new Set<Socket>()
  const locks = new Set<object>()
  let allowedUs = BigInt(delayMsMax) * 1000n
  const answer = async ({ member, body }: DbusMessage): Promise<[signature: string, body: DbusValue[]]> => {
    calls.push(`${member} ${body.join(' ')}`.trim())
    if (member === 'Hello') return ['s', [':1.7']]
    if (member === 'Get') return ['v', [allowedUs]]
    if (member !== 'KillUnit') return ['', []]
    const text = await readFile(join(folder, 'conf', '99-kubelet.conf'), 'utf8')
    allowedUs = BigInt(/^InhibitDelayMaxSec=(\d+)$/m.exec(text)?.[1] ?? 0) * 1_000_000n
    return ['', []]
  }
  const server = createServer((socket) => {
    let greeting: string | undefined = ''
    let rest = Buffer.alloc(0)
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket)).on('error', () => {})
    socket.on('data', (piece: Buffer) => {
      if (greeting !== undefined) {
        greeting += piece.toString('latin1')
        if (greeting === `\0AUTH EXTERNAL ${uidText}\r\n`) return void socket.write('OK 0123456789abcdef\r\n')
        const [, after] = greeting.split('BEGIN\r\n')
        if (after === undefined) return
        piece = Buffer.from(after, 'latin1')
        greeting = undefined
      }
      rest = Buffer.concat([rest, piece])
      for (let size = messageBytes(rest); size !== undefined && size <= rest.length; size = messageBytes(rest)) {
        const call = decodeMessage(rest.subarray(0, size))
        rest = rest.subarray(size)
        void answer(call).then(([signature, body]) =>
          socket.write(encodeMessage({ kind: 'answer', serial: 1, replyTo: call.serial, signature, body })),
        )
      }
    })
  })
  await new Promise<void>((resolve) => server.listen(join(folder, 'bus'), resolve))
  const processes: Pick<Processes, 'start'> = {
    start(_command, _args, _options, onLine) {
      const lock = {}
      const ended = Promise.withResolvers<number>()
      const kill = () => {
        locks.delete(lock)
        ended.resolve(143)
      }
      locks.add(lock)
      onLine('held')
      return { pid: 0, ended: ended.promise, kill }
    },
  }
  return {
    calls,
    shutdown: new NodeLogind({
      processes: processes as Processes,
      clock: realClock,
      socketPath: join(folder, 'bus'),
      configurationDirectory: join(folder, 'conf'),
    }),
    announce(isShuttingDown) {
      const signal = {
        kind: 'signal',
        serial: 2,
        path: '/org/freedesktop/login1',
        interface: 'org.freedesktop.login1.Manager',
        member: 'PrepareForShutdown',
        signature: 'b',
        body: [isShuttingDown],
      } as const
      for (const socket of sockets) socket.write(encodeMessage(signal))
    },
    hangUp: () => sockets.forEach((socket) => socket.destroy()),
    async isDelayed(wanted) {
      while (locks.size > 0 !== wanted) await realClock.sleep(5, new AbortController().signal)
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await rm(folder, { recursive: true })
    },
  }
}
