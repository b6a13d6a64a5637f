// The contract suite of programs in containers: arguments, environment, signals, output and listening ports. A
// simulated image is a function, a real one a shell script; both must pass.
import { deepEqual, equal, ok, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import { Unreachable } from '../../platform/http/outbound.ts'
import type { LogFiles } from '../logs/log-files.ts'
import type { PodDialer } from '../dialer/pod-dialer.ts'
import { plainContainer, plainSandbox } from './runtime-config.ts'
import type { ContainerRuntime } from './container-runtime.ts'

export interface ProgramUnderTest {
  readonly runtime: ContainerRuntime
  readonly logs: LogFiles
  readonly dialer: PodDialer
  /**
   * Responds to every GET at port 8080 with 200, prints its arguments, one per line, and `GREETING=` with that
   * variable, and waits. On SIGTERM it prints `SIGTERM` and exits with 5.
   */
  readonly image: string
  readonly command?: readonly string[]
  readonly logDirectory?: string
  readonly cgroupParent?: string
}

const { signal } = new AbortController()
const uid = 'uid-program'
const port = 8080
const pieceBytes = 1_000

export function programContract(driver: string, open: () => Promise<ProgramUnderTest>): void {
  let started = 0
  async function start({ runtime, image, command = [], logDirectory = '', cgroupParent = '' }: ProgramUnderTest) {
    const sandbox = { ...plainSandbox(uid, 'default', 'program'), logDirectory, cgroupParent }
    const sandboxId = await runtime.runSandbox(sandbox, signal)
    const imageId = await runtime.pullImage(image, undefined, signal)
    const config = {
      // A name of its own, and so a log of its own: that of an earlier test contains the line that is waited for.
      ...plainContainer(`c${started++}`, image),
      imageId,
      command,
      arguments: ['one', 'two words'],
      environment: [{ name: 'GREETING', value: 'hello' }],
    }
    const id = await runtime.createContainer(sandboxId, config, sandbox, signal)
    await runtime.startContainer(id, signal)
    const seen = async () => {
      const found = await runtime.inspect(uid, signal)
      return { ips: found?.ips ?? [], container: found?.containers.find((one) => one.id === id) }
    }
    return { id, seen, end: () => runtime.removeSandbox(sandboxId, signal) }
  }

  /** The output, as soon as it contains the line. */
  async function printed({ logs }: ProgramUnderTest, path: string, last: string): Promise<string[]> {
    const file = await logs.open(path)
    ok(file !== undefined, `there is no log ${path}`)
    await using log = file
    let text = ''
    for (;;) {
      for (let piece = await log.read(text.length, pieceBytes); piece.length > 0;) {
        text += new TextDecoder('latin1').decode(piece)
        piece = await log.read(text.length, pieceBytes)
      }
      // The CRI log format: `time stream F text`.
      const lines = text.split('\n').flatMap((line) => (line === '' ? [] : [line.split(' ').slice(3).join(' ')]))
      if (lines.includes(last)) return lines
      await log.waitForChange(signal)
    }
  }

  test(`${driver}: a program gets its arguments and environment, and its output is in the log`, async () => {
    const under = await open()
    const { seen, end } = await start(under)
    const { container } = await seen()
    deepEqual(await printed(under, container?.logPath ?? '', 'GREETING=hello'), ['one', 'two words', 'GREETING=hello'])
    await end()
  })

  test(`${driver}: a program is reachable on its ports only`, async () => {
    const under = await open()
    const { seen, end } = await start(under)
    const { container, ips } = await seen()
    await printed(under, container?.logPath ?? '', 'GREETING=hello')
    const host = ips[0] ?? ''
    const connection = await under.dialer.connect({ host, port }, false, signal)
    await connection.write(new TextEncoder().encode('GET / HTTP/1.1\r\nHost: program\r\nConnection: close\r\n\r\n'))
    let answer = ''
    for await (const piece of connection.pieces) answer += new TextDecoder().decode(piece)
    equal(answer.split(' ')[1], '200')
    await rejects(under.dialer.connect({ host, port: port + 1 }, false, signal), Unreachable)
    await end()
  })

  test(`${driver}: a program gets SIGTERM and its exit code is reported`, async () => {
    const under = await open()
    const { id, seen, end } = await start(under)
    const path = (await seen()).container?.logPath ?? ''
    await printed(under, path, 'GREETING=hello')
    await under.runtime.stopContainer(id, 10_000, signal)
    const { container } = await seen()
    deepEqual([container?.state, container?.exitCode], ['exited', 5])
    deepEqual((await printed(under, path, 'SIGTERM')).at(-1), 'SIGTERM')
    await end()
  })
}
