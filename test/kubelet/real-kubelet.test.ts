// A kubelet of its own process with real containers: it joins, gets its range, runs pods; kubectl reaches into them through
// its port; killed and started again it goes on with what runs.
import { deepEqual, equal, match } from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { basename } from 'node:path'
import { createInterface } from 'node:readline'
import { test } from 'node:test'
import { NodeCgroups } from '../../src/machine/cgroups/node-cgroups.ts'
import { busybox, server } from '../containers/busybox.ts'
import { inNamespaces } from '../containers/namespaces.ts'
import { startRegistry } from '../containers/registry.ts'
import { runKubectl } from '../kubectl.ts'
import { until } from '../until.ts'
import { goodToken, newest, startJoinable } from './joining.harness.ts'

inNamespaces(import.meta.url, () => {
  test('a machine joins and runs containers; kubectl reaches them; kill -9 of the kubelet harms none', async () => {
    await using registry = await startRegistry()
    const image = registry.push('busybox:1', busybox({ command: server }))
    await using cluster = await startJoinable()
    const { k, ask } = cluster
    const bootstrap = await cluster.bootstrapKubeconfig('good', `${goodToken.id}.${goodToken.secret}`)
    const cgroupRoot = `/${basename(cluster.up.folder)}`
    await using _groups = { [Symbol.asyncDispose]: async () => (await NodeCgroups.open()).remove(cgroupRoot) }
    const options = ['--runtime', 'containerd', '--cgroup-root', cgroupRoot]
    const first = await cluster.kubelet('worker', ...options, '--bootstrap-kubeconfig', bootstrap)
    await k(['wait', 'node/worker', '--for=condition=Ready', '--timeout=60s'])
    const events = await k(['get', 'events', '-A', '-o', 'jsonpath={range .items[*]}{.reason} {end}'])
    match(events, /NodeReady/, 'it was not ready before its network was there')

    await k(['run', 'p', `--image=${image}`])
    await k(['wait', 'pod/p', '--for=condition=Ready', '--timeout=60s'])
    const look = async () =>
      k([
        'get',
        'pod',
        'p',
        '-o',
        'jsonpath={.status.podIP} {.status.containerStatuses[0].containerID} {.status.containerStatuses[0].restartCount}',
      ])
    const before = await look()
    match(before, /^10\.244\.0\.\d+ containerd:\/\/\w+ 0$/)
    const mounts =
      '{.status.containerStatuses[0].volumeMounts[0].recursiveReadOnly} {.status.containerStatuses[0].resources}'
    equal(await k(['get', 'pod', 'p', '-o', `jsonpath=${mounts}`]), 'Disabled {}')
    await until(async () =>
      (await k(['get', 'node', 'worker', '-o', 'jsonpath={.status.images[*].names}'])).includes('busybox'),
    )

    const said = await ask(['exec', 'p', '--', 'sh', '-c', 'echo out; exit 7'])
    deepEqual([said.code, said.out], [7, 'out\n'])
    const typed = await runKubectl(newest(), cluster.up.kubeconfig, ['exec', '-i', 'p', '--', 'cat'], {
      input: 'typed\n',
    })
    equal(typed.out, 'typed\n')
    const forwarding = spawn(newest().path, ['port-forward', 'pod/p', ':8080'], {
      env: { ...process.env, KUBECONFIG: cluster.up.kubeconfig },
    })
    await k(['exec', 'p', '--', 'sh', '-c', 'echo page > /tmp/index.html; httpd -p 8080 -h /tmp'])
    const [line] = (await once(createInterface({ input: forwarding.stdout }), 'line')) as [string]
    const port = /127\.0\.0\.1:(\d+)/.exec(line)?.[1]
    equal(await (await fetch(`http://127.0.0.1:${port}/index.html`)).text(), 'page\n')
    forwarding.kill()
    await k(['run', 'talker', `--image=${image}`, '--restart=Never', '--', 'sh', '-c', 'echo spoken'])
    await k(['wait', 'pod/talker', '--for=jsonpath={.status.phase}=Succeeded', '--timeout=60s'])
    equal(await k(['logs', 'talker']), 'spoken\n')
    await until(async () => (await ask(['top', 'pod', 'p'])).code === 0)
    equal(await k(['get', '--raw', `/api/v1/namespaces/default/pods/p:8080/proxy/index.html`]), 'page\n')

    await first.end('SIGKILL')
    const second = await cluster.kubelet('worker', ...options)
    await until(async () => (await ask(['exec', 'p', '--', 'true'])).code === 0)
    equal(await look(), before, 'the same container, at the same address')
    await k(['delete', 'pod', 'p', 'talker', '--timeout=60s'])
    equal(await second.end(), 0)
  })
})
