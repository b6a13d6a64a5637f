// coxswain up with real containers: kubectl creates pods, and they run.
import { equal, match } from 'node:assert/strict'
import { hostname } from 'node:os'
import { test } from 'node:test'
import { kubectls, runKubectl } from '../kubectl.ts'
import { startUp } from '../process.ts'
import { busybox, server } from './busybox.ts'
import { inNamespaces } from './namespaces.ts'
import { startRegistry } from './registry.ts'

inNamespaces(import.meta.url, () => {
  test('a pod with a real image runs with its variables and files, exits, is deleted, and leaves nothing behind', async () => {
    await using registry = await startRegistry()
    const image = registry.push('busybox:1', busybox({ command: server }))
    await using up = await startUp('--runtime', 'containerd')
    const [kubectl] = kubectls()
    if (kubectl === undefined) throw new Error('there is no kubectl')
    const k = async (args: string[], input?: object) => {
      const { out, err, code } = await runKubectl(kubectl, up.kubeconfig, args, { input: JSON.stringify(input ?? '') })
      equal(code, 0, `kubectl ${args.join(' ')}: ${err}`)
      return out
    }
    await k(['create', 'configmap', 'settings', '--from-literal=color=red'])
    await k(['create', 'secret', 'generic', 'keys', '--from-literal=token=hunter2'])
    const script =
      'test "$COLOR" = red && test "$(cat /keys/token)" = hunter2 && test -s /var/run/secrets/kubernetes.io/serviceaccount/token && test -s /var/run/secrets/kubernetes.io/serviceaccount/ca.crt && grep -q "$POD_IP" /etc/hosts && echo -n done > /dev/termination-log'
    const metadata = { name: 'once' }
    await k(['apply', '-f', '-'], {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata,
      spec: {
        restartPolicy: 'Never',
        containers: [
          {
            name: 'c',
            image,
            command: ['/bin/sh', '-c', script],
            env: [
              { name: 'COLOR', valueFrom: { configMapKeyRef: { name: 'settings', key: 'color' } } },
              { name: 'POD_IP', valueFrom: { fieldRef: { fieldPath: 'status.podIP' } } },
            ],
            volumeMounts: [{ name: 'keys', mountPath: '/keys' }],
          },
        ],
        volumes: [{ name: 'keys', secret: { secretName: 'keys' } }],
      },
    })
    const phase = ['wait', 'pod/once', '--for=jsonpath={.status.phase}=Succeeded', '--timeout=200s']
    await k(phase).catch(async (error: unknown) => {
      throw new Error(await k(['describe', 'pod', 'once']), { cause: error })
    })
    equal(
      await k(['get', 'pod', 'once', '-o', 'jsonpath={.status.containerStatuses[0].state.terminated.message}']),
      'done',
    )
    await k(['create', 'deployment', 'web', `--image=${image}`, '--replicas=2'])
    await k(['rollout', 'status', 'deploy/web', '--timeout=200s'])
    match(
      await k(['get', 'pods', '-l', 'app=web', '-o', 'jsonpath={.items[*].status.podIP}']),
      /^10\.244\.0\.\d+ 10\.244\.0\.\d+$/,
    )
    await k(['delete', 'deploy/web', 'pod/once', '--timeout=200s'])
    await k(['wait', 'pod', '--all', '--for=delete', '--timeout=200s'])
  })

  test('the port of the kubelet serves clients that the cluster authorizes', async () => {
    await using up = await startUp('--runtime', 'containerd', '--kubelet-port', '10251')
    const [kubectl] = kubectls()
    if (kubectl === undefined) throw new Error('there is no kubectl')
    const k = (...args: string[]) => runKubectl(kubectl, up.kubeconfig, args)
    const registered = await k('wait', `node/${hostname().toLowerCase()}`, '--for=create', '--timeout=200s')
    equal(registered.code, 0, registered.err)
    const port = await k('get', 'nodes', '-o', 'jsonpath={.items[*].status.daemonEndpoints.kubeletEndpoint.Port}')
    equal(port.out, '10251')
    const kubelet = ['--server=https://127.0.0.1:10251', '--insecure-skip-tls-verify']
    const pods = await k(...kubelet, 'get', '--raw', '/pods')
    equal((JSON.parse(pods.out) as { kind: string }).kind, 'PodList', pods.err)
    const token = (await k('create', 'token', 'default')).out.trim()
    const other = ['--kubeconfig=/dev/null', ...kubelet, `--token=${token}`, 'get', '--raw', '/pods']
    match((await k(...other)).err, /Forbidden/)
    const none = ['--kubeconfig=/dev/null', ...kubelet, '--token=none', 'get', '--raw', '/pods']
    match((await k(...none)).err, /asked for the client to provide credentials/)
  })
})
