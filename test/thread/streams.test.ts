// Streams with real kubectl on simulated nodes: the same road as to real containers, without a socket to the kubelet.
import { deepEqual, equal, match } from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { test } from 'node:test'
import { kubectlEnvironment, kubectls, runKubectl, type Kubectl } from '../kubectl.ts'
import { startUp } from '../process.ts'

const protocols = [
  {},
  { KUBECTL_REMOTE_COMMAND_WEBSOCKETS: 'false', KUBECTL_PORT_FORWARD_WEBSOCKETS: 'false' },
] as const

/** What the pod answers at a port of this machine that leads to it. */
async function answerThroughForward(
  { path }: Kubectl,
  kubeconfig: string,
  environment: Readonly<Record<string, string>>,
): Promise<string> {
  const env = { ...kubectlEnvironment(kubeconfig), ...environment }
  const child = spawn(path, ['port-forward', 'pod/web', ':80'], { env, stdio: ['ignore', 'pipe', 'inherit'] })
  const exited = once(child, 'exit')
  try {
    for await (const line of createInterface({ input: child.stdout })) {
      const address = /^Forwarding from (127\.0\.0\.1:\d+)/.exec(line)?.[1]
      if (address !== undefined) return await (await fetch(`http://${address}/`)).text()
    }
    return 'nothing was forwarded'
  } finally {
    child.kill()
    await exited
  }
}

for (const kubectl of kubectls())
  test(`kubectl ${kubectl.version}: logs, exec, port-forward and proxy on a simulated node`, async () => {
    await using up = await startUp('--store', 'memory', '--runtime', 'simulated', '--nodes', '1')
    const k = (args: readonly string[], environment: Readonly<Record<string, string>> = {}) =>
      runKubectl(kubectl, up.kubeconfig, args, { environment })
    equal((await k(['run', 'web', '--image=nginx'])).code, 0)
    equal((await k(['wait', '--for=condition=Ready', 'pod/web', '--timeout=200s'])).code, 0)
    deepEqual(await k(['logs', 'web']), { code: 0, out: '', err: '' })
    match((await k(['logs', 'web', '--previous'])).err, /previous terminated container "web" in pod "web" not found/)
    for (const environment of protocols) {
      const said = { code: 0, out: '', err: 'the node is simulated: nothing was run\n' }
      deepEqual(await k(['exec', 'web', '--', 'true'], environment), said)
      equal(await answerThroughForward(kubectl, up.kubeconfig, environment), 'ok')
    }
    equal((await k(['get', '--raw', '/api/v1/nodes/node-0/proxy/healthz'])).out, 'ok')
    match((await k(['get', '--raw', '/api/v1/nodes/node-0/proxy/pods'])).out, /"kind":"PodList".*"name":"web"/)
  })
