// A kubelet in a separate process with real containers: it joins, gets its range, runs pods and measures them; after a
// kill and restart it continues with the running containers.
import { equal, match } from 'node:assert/strict'
import { test } from 'node:test'
import { inNamespaces } from '../containers/namespaces.ts'
import { until, untilMatch } from '../until.ts'
import { startJoined } from './joined.harness.ts'

inNamespaces(import.meta.url, () => {
  test('a machine joins and runs containers; kill -9 of the kubelet affects none of them', async () => {
    await using machine = await startJoined()
    const { cluster, image } = machine
    const { k, ask } = cluster
    // It was not ready before its network was.
    await untilMatch(() => k(['get', 'events', '-A', '-o', 'jsonpath={range .items[*]}{.reason} {end}']), /NodeReady/)

    await k(['run', 'p', `--image=${image}`])
    await k(['wait', 'pod/p', '--for=condition=Ready', '--timeout=200s'])
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

    await k(['exec', 'p', '--', 'sh', '-c', 'echo page > /tmp/index.html; httpd -p 8080 -h /tmp'])
    await k(['run', 'talker', `--image=${image}`, '--restart=Never', '--', 'sh', '-c', 'echo spoken'])
    await k(['wait', 'pod/talker', '--for=jsonpath={.status.phase}=Succeeded', '--timeout=200s'])
    equal(await k(['logs', 'talker']), 'spoken\n')
    await until(async () => (await ask(['top', 'pod', 'p'])).code === 0)
    equal(await k(['get', '--raw', `/api/v1/namespaces/default/pods/p:8080/proxy/index.html`]), 'page\n')

    await machine.kill()
    const second = await machine.again()
    await until(async () => (await ask(['exec', 'p', '--', 'true'])).code === 0)
    equal(await look(), before, 'the same container, at the same address')
    await k(['delete', 'pod', 'p', 'talker', '--timeout=200s'])
    equal(await second.end(), 0)
  })
})
