// The runtime contract on real containers: Debian's containerd over CRI.
import { after, before } from 'node:test'
import { join } from 'node:path'
import { realClock } from '../../src/base/clock.ts'
import { NodeLogFiles } from '../../src/machine/logs/node-log-files.ts'
import { nodeReach } from '../../src/machine/reach/node-reach.ts'
import { runtimeContract } from '../../src/machine/runtime/contract.suite.ts'
import { programContract } from '../../src/machine/runtime/program.suite.ts'
import { nodePlatform } from '../../src/platform/node/platform.ts'
import { busybox, server } from './busybox.ts'
import { startContainerd, type TestContainerd } from './containerd.harness.ts'
import { inNamespaces } from './namespaces.ts'
import { startRegistry, type Registry } from './registry.ts'

const program = `mkdir /www; echo ok > /www/index.html; httpd -p 8080 -h /www
for argument in "$@"; do echo "$argument"; done
trap 'echo SIGTERM; exit 5' TERM
echo "GREETING=$GREETING"
while true; do sleep 0.1; done`

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

  programContract('containerd', () =>
    Promise.resolve({
      runtime: test.containerd.runtime,
      logs: new NodeLogFiles(join(test.folder, 'logs')),
      reach: nodeReach(nodePlatform.http2, realClock),
      image: registry.push('program:1', busybox()),
      command: ['/bin/sh', '-c', program, 'sh'],
      logFolder: join(test.folder, 'logs'),
      cgroupParent: test.cgroupParent,
    }),
  )
})
