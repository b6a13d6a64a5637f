// The sockets of plugins: both drivers report sockets that are created, replaced and removed.
import { deepEqual, equal, notEqual } from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { realClock } from '../../base/time/clock.ts'
import { NodePluginSockets } from './node-plugin-sockets.ts'
import type { PluginSockets } from './plugin-sockets.ts'
import { SimulatedPluginSockets } from './simulated-plugin-sockets.ts'

interface SocketsUnderTest extends Disposable {
  readonly sockets: PluginSockets
  readonly directory: string
  add(name: string): Promise<void>
  remove(name: string): Promise<void>
}

function onHost(): SocketsUnderTest {
  const directory = mkdtempSync(join(tmpdir(), 'plugins-'))
  const servers = new Map<string, Server>()
  const remove = (name: string) => {
    const server = servers.get(name)
    servers.delete(name)
    return new Promise<void>((resolve) => (server === undefined ? resolve() : server.close(() => resolve())))
  }
  return {
    sockets: new NodePluginSockets(directory, realClock),
    directory,
    remove,
    async add(name) {
      await remove(name)
      const server = createServer()
      servers.set(name, server)
      await new Promise<void>((resolve) => server.listen(join(directory, name), resolve))
    },
    [Symbol.dispose]() {
      for (const server of servers.values()) server.close()
      rmSync(directory, { recursive: true })
    },
  }
}

function simulated(): SocketsUnderTest {
  const sockets = new SimulatedPluginSockets()
  return {
    sockets,
    directory: '/plugins',
    add: (name) => Promise.resolve(sockets.add(`/plugins/${name}`)),
    remove: (name) => Promise.resolve(sockets.remove(`/plugins/${name}`)),
    [Symbol.dispose]() {},
  }
}

for (const [driver, open] of Object.entries({ host: onHost, simulated })) {
  test(`${driver}: sockets are listed, and one that is created again has another identity`, async () => {
    using found = open()
    const { signal } = new AbortController()
    deepEqual(await found.sockets.list(signal), [])
    await found.add('b.sock')
    await found.add('a.sock')
    const [first, second] = await found.sockets.list(signal)
    deepEqual([first?.path, second?.path], [`${found.directory}/a.sock`, `${found.directory}/b.sock`])
    await found.add('a.sock')
    const [again] = await found.sockets.list(signal)
    notEqual(again?.identity, first?.identity)
    await found.remove('a.sock')
    deepEqual((await found.sockets.list(signal)).length, 1)
  })

  test(`${driver}: a wait ends with a change or with its signal`, async () => {
    using found = open()
    const { signal } = new AbortController()
    await found.sockets.list(signal)
    const changed = found.sockets.waitForChange(signal)
    await found.add('a.sock')
    await changed
    const stop = new AbortController()
    const stopped = found.sockets.waitForChange(stop.signal).then(
      () => 'ended',
      () => 'ended',
    )
    stop.abort()
    equal(await stopped, 'ended')
  })
}

test('host: sockets in subdirectories are found, other files and hidden sockets are not', async () => {
  using found = onHost()
  writeFileSync(join(found.directory, 'file'), '')
  await mkdir(join(found.directory, 'sub'))
  await found.add('sub/s.sock')
  await found.add('.hidden')
  const paths = (await found.sockets.list(new AbortController().signal)).map(({ path }) => path)
  deepEqual(paths, [join(found.directory, 'sub/s.sock')])
})
