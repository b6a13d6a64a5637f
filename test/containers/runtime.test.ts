// The runtime contract on real containers: Debian's containerd over CRI.
import { after, before } from 'node:test'
import { join } from 'node:path'
import { runtimeContract } from '../../src/machine/runtime/contract.suite.ts'
import { busybox, server } from './busybox.ts'
import { startContainerd, type TestContainerd } from './containerd.harness.ts'
import { inNamespaces } from './namespaces.ts'
import { startRegistry, type Registry } from './registry.ts'

inNamespaces(import.meta.url, () => {
  const controller = new AbortController()
  let registry: Registry
  let test: TestContainerd

  before(async () => {
    registry = await startRegistry()
    test = await startContainerd(controller.signal)
    void test.containerd.runtime.watch(controller.signal).catch(() => {})
  })
  after(async () => {
    controller.abort()
    await test[Symbol.asyncDispose]()
    await registry[Symbol.asyncDispose]()
  })

  runtimeContract('containerd', () =>
    Promise.resolve({
      runtime: test.containerd.runtime,
      images: {
        server: registry.push('server:1', busybox({ command: server })),
        exits3: registry.push('exits3:1', busybox({ command: ['/bin/sh', '-c', 'exit 3'] })),
        missing: `${registry.host}/missing:1`,
      },
      logFolder: join(test.folder, 'logs'),
      cgroupParent: test.cgroupParent,
      commands: { exits7: ['/bin/sh', '-c', 'echo out; exit 7'], hangs: ['/bin/sleep', '100'] },
    }),
  )
})
