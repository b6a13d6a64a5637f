// The TLS thread can be turned off; the listener serves the same requests without it.
import { equal, match } from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { acceptors, allFrom, asJane, listenWithThreadOff, tls, type Listen } from './listener.harness.ts'
import { allowsTlsThread } from './listener.ts'

const handle = () => ({ status: 200, headers: {}, body: 'served' })
const messagePorts = () => process.getActiveResourcesInfo().filter((type) => type === 'MessagePort').length

const modes: [name: string, listen: Listen | undefined, threads: number][] = [
  ['with the thread', acceptors['in a thread'], 1],
  ['with the thread turned off', listenWithThreadOff, 0],
]
for (const [name, listen, threads] of modes)
  test(`a listener ${name} serves requests`, async () => {
    const before = messagePorts()
    await using listening = await (listen ?? listenWithThreadOff)({ handle })
    equal(messagePorts() - before, threads)
    const socket = await tls(listening.port, asJane)
    socket.write('GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')
    match(await allFrom(socket), /^HTTP\/1\.1 200 OK\r\n[^]*served$/)
  })

test('the environment turns the thread off', () => {
  equal(allowsTlsThread({}), true)
  equal(allowsTlsThread({ COXSWAIN_TLS_THREAD: '1' }), true)
  equal(allowsTlsThread({ COXSWAIN_TLS_THREAD: '0' }), false)
})

test('a TLS thread without a listener ends when it is disposed of', () => {
  const program = `import { nodeListeners } from '${import.meta.resolve('./listener.ts')}'
    await nodeListeners.startTlsThread()[Symbol.asyncDispose]()`
  // A thread that is left keeps the process alive.
  const { status } = spawnSync(process.execPath, ['--input-type=module', '--eval', program], { timeout: 30_000 })
  equal(status, 0)
})
