// Streams with real kubectl on simulated nodes: as with real containers, but without a socket to the kubelet.
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

/** The pod's response at a forwarded port of this machine. */
async function answerThroughForward(
  { path }: Kubectl,
  kubeconfig: string,
  environment: Readonly<Record<string, string>>,
  [target, port]: readonly [target: string, port: number],
): Promise<string> {
  const env = { ...kubectlEnvironment(kubeconfig), ...environment }
  const child = spawn(path, ['port-forward', target, `:${port}`], { env, stdio: ['ignore', 'pipe', 'inherit'] })
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
    const overrides = {
      spec: { containers: [{ name: 'web', image: 'nginx', ports: [{ name: 'http', containerPort: 80 }] }] },
    }
    equal((await k(['run', 'web', '--image=nginx', `--overrides=${JSON.stringify(overrides)}`])).code, 0)
    equal((await k(['wait', '--for=condition=Ready', 'pod/web', '--timeout=200s'])).code, 0)
    equal((await k(['expose', 'pod/web', '--name=named', '--port=8080', '--target-port=http'])).code, 0)
    equal((await k(['expose', 'pod/web', '--name=numbered', '--port=8080', '--target-port=80'])).code, 0)
    deepEqual(await k(['logs', 'web']), { code: 0, out: '', err: '' })
    match((await k(['logs', 'web', '--previous'])).err, /previous terminated container "web" in pod "web" not found/)
    for (const environment of protocols) {
      const refused = '"ls -l" was not run: container web is simulated and has no programs\n'
      const err = `${refused}command terminated with exit code 126\n`
      deepEqual(await k(['exec', 'web', '--', 'ls', '-l'], environment), { code: 126, out: '', err })
      for (const [from, to] of [
        ['package.json', 'web:/tmp/copy'],
        ['web:/tmp/copy', `${up.kubeconfig}.copy`],
      ] as const) {
        const copied = await k(['cp', from, to], environment)
        equal(copied.code, 126)
        match(`${copied.out}${copied.err}`, /"tar .*" was not run: container web is simulated and has no programs/)
      }
      for (const target of [
        ['pod/web', 80],
        ['service/named', 8080],
        ['service/numbered', 8080],
      ] as const)
        equal(await answerThroughForward(kubectl, up.kubeconfig, environment, target), 'ok')
    }
    equal((await k(['get', '--raw', '/api/v1/nodes/node-0/proxy/healthz'])).out, 'ok')
    match((await k(['get', '--raw', '/api/v1/nodes/node-0/proxy/pods'])).out, /"kind":"PodList".*"name":"web"/)
  })

for (const kubectl of kubectls())
  test(`kubectl ${kubectl.version}: commands that exit by themselves do so on a simulated node`, async () => {
    await using up = await startUp('--store', 'memory', '--runtime', 'simulated', '--nodes', '1')
    const k = (...args: string[]) => runKubectl(kubectl, up.kubeconfig, args)
    for (const restart of ['Always', 'Never']) {
      const name = `hi-${restart.toLowerCase()}`
      const flags = ['--rm', '-i', '--image=busybox', `--restart=${restart}`]
      const { code, out } = await k('run', name, ...flags, '--', 'echo', 'hi')
      equal(code, 0)
      match(out, new RegExp(`^hi\n(hi\n)?pod "${name}" deleted`))
    }
    const failed = await k('run', 'three', '--rm', '-i', '--restart=Never', '--image=b', '--', 'sh', '-c', 'exit 3')
    equal(failed.code, 3)
    equal((await k('create', 'job', 'clock', '--image=busybox', '--', 'date', '+%Y')).code, 0)
    equal((await k('wait', '--for=condition=Complete', 'job/clock', '--timeout=200s')).code, 0)
    match((await k('logs', 'job/clock')).out, /^\d{4}\n$/)
  })
