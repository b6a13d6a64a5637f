// Streams with real kubectl on simulated nodes: the same road as to real containers, without a socket to the kubelet.
import { deepEqual, equal, match } from 'node:assert/strict'
import { test } from 'node:test'
import { kubectls, runKubectl } from '../kubectl.ts'
import { startUp } from '../process.ts'

const protocols = [
  {},
  { KUBECTL_REMOTE_COMMAND_WEBSOCKETS: 'false', KUBECTL_PORT_FORWARD_WEBSOCKETS: 'false' },
] as const

for (const kubectl of kubectls())
  test(`kubectl ${kubectl.version}: logs, exec, port-forward and proxy on a simulated node`, async () => {
    await using up = await startUp('--store', 'memory', '--runtime', 'simulated', '--nodes', '1')
    const k = (args: readonly string[], environment: Readonly<Record<string, string>> = {}) =>
      runKubectl(kubectl, up.kubeconfig, args, { environment })
    equal((await k(['run', 'web', '--image=nginx'])).code, 0)
    equal((await k(['wait', '--for=condition=Ready', 'pod/web', '--timeout=30s'])).code, 0)
    deepEqual(await k(['logs', 'web']), { code: 0, out: '', err: '' })
    match((await k(['logs', 'web', '--previous'])).err, /previous terminated container "web" in pod "web" not found/)
    for (const environment of protocols) {
      deepEqual(await k(['exec', 'web', '--', 'true'], environment), { code: 0, out: '', err: '' })
      match(
        (await k(['port-forward', 'pod/web', ':80'], environment)).err,
        /the simulated runtime does not forward ports/,
      )
    }
    equal((await k(['get', '--raw', '/api/v1/nodes/node-0/proxy/healthz'])).out, 'ok')
    match((await k(['get', '--raw', '/api/v1/nodes/node-0/proxy/pods'])).out, /"kind":"PodList".*"name":"web"/)
  })
