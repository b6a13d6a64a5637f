// The runtime contract on real containers: Debian's containerd over CRI.
import { doesNotMatch, equal, match } from 'node:assert/strict'
import { after, before, it } from 'node:test'
import { join } from 'node:path'
import { realClock } from '../../src/base/time/clock.ts'
import { silentLog } from '../../src/base/observability/log.ts'
import { CriRuntime } from '../../src/machine/cri/cri-runtime.ts'
import { ctrAt } from '../../src/machine/cri/ctr.ts'
import { NodeLogFiles } from '../../src/machine/logs/node-log-files.ts'
import { nodePodDialer } from '../../src/machine/dialer/node-pod-dialer.ts'
import { plainContainer, plainSandbox } from '../../src/machine/runtime/runtime-config.ts'
import { runtimeContract } from '../../src/machine/runtime/runtime-contract.suite.ts'
import { programContract } from '../../src/machine/runtime/program.suite.ts'
import { nodePlatform } from '../../src/platform/node/platform.ts'
import { until } from '../until.ts'
import { busybox, server } from './busybox.ts'
import { startContainerd, type TestContainerd } from './containerd.harness.ts'
import { inNamespaces } from './namespaces.ts'
import { startRegistry, type Registry } from './registry.ts'

const { http2 } = nodePlatform
const isLong = process.env['COXSWAIN_LONG'] === '1'
/** A container is left in about one of 60 rounds. */
const raceRoundsMax = isLong ? 600 : 40
const raceDelayMsMax = 80

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
      logDirectory: join(test.folder, 'logs'),
      cgroupParent: test.cgroupParent,
      commands: { exits7: ['/bin/sh', '-c', 'echo out; exit 7'], hangs: ['/bin/sleep', '100'] },
    }),
  )

  programContract('containerd', () =>
    Promise.resolve({
      runtime: test.containerd.runtime,
      logs: new NodeLogFiles(join(test.folder, 'logs')),
      dialer: nodePodDialer(nodePlatform.http2, realClock),
      image: registry.push('program:1', busybox()),
      command: ['/bin/sh', '-c', program, 'sh'],
      logDirectory: join(test.folder, 'logs'),
      cgroupParent: test.cgroupParent,
    }),
  )

  it('containerd: a container that is considered exited while its process runs is removed with its process', async () => {
    const { signal } = controller
    const { runtime, socketPath } = test.containerd
    const ctr = ctrAt(nodePlatform.processes, socketPath)
    // Its second process continues: what the first one writes to its root file system is present.
    const command = ['/bin/sh', '-c', 'test -e /begun && exec sleep 1000; touch /begun']
    const image = registry.push('twice:1', busybox({ command }))
    const imageId = await runtime.pullImage(image, undefined, signal)
    const { cgroupParent } = test
    const config = { ...plainSandbox('left', 'default', 'left'), logDirectory: join(test.folder, 'logs'), cgroupParent }
    const sandbox = await runtime.runSandbox(config, signal)
    const container = { ...plainContainer('c', image, 0), imageId }
    const id = await runtime.createContainer(sandbox, container, config, signal)
    await runtime.startContainer(id, signal)
    await until(async () => (await runtime.inspect('left', signal))?.containers[0]?.state === 'exited')
    // As after an interrupted start: a process that the CRI plugin does not know.
    await ctr(['tasks', 'start', '--detach', id], signal)
    match(await ctr(['tasks', 'ls'], signal), new RegExp(`^${id}.*RUNNING`, 'm'))
    await runtime.removeSandbox(sandbox, signal)
    equal(await runtime.inspect('left', signal), undefined)
    doesNotMatch(await ctr(['tasks', 'ls'], signal), new RegExp(id))
  })

  it('containerd: containers that were created while their sandbox was removed are removed', async () => {
    const { signal } = controller
    const { runtime, socketPath } = test.containerd
    const image = registry.push('raced:1', busybox({ command: server }))
    const imageId = await runtime.pullImage(image, undefined, signal)
    const { cgroupParent } = test
    const container = { ...plainContainer('c', image, 0), imageId }
    const isLeft = async () => (await runtime.imagesInUse(signal)).has(imageId)
    // A kubelet that is killed during the call: its connection breaks and the next one removes the sandbox.
    for (let round = 0; round < raceRoundsMax && !(await isLeft()); round++) {
      const name = `raced-${round}`
      const config = { ...plainSandbox(name, 'default', name), logDirectory: join(test.folder, 'logs'), cgroupParent }
      const sandbox = await runtime.runSandbox(config, signal)
      const killed = await CriRuntime.connect(socketPath, { http2, clock: realClock, log: silentLog }, signal)
      const created = killed.createContainer(sandbox, container, config, signal).catch(() => {})
      await realClock.sleep(round % raceDelayMsMax, signal)
      killed.close()
      await runtime.removeSandbox(sandbox, signal)
      await created
    }
    // A creation that is still running ends before the next pass.
    await until(async () => {
      await runtime.removeLostContainers(signal)
      return !(await isLeft())
    })
  })
})
