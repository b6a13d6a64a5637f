// Pods with real containers and kubectl: images, probes, hooks, crashes, debugging, termination, and a machine that is
// killed meanwhile.
import { deepEqual, equal, match } from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'
import { realClock } from '../../src/base/time/clock.ts'
import { kubectlEnvironment, kubectls, runKubectl } from '../kubectl.ts'
import { until, untilMatch } from '../until.ts'
import { newFolder, startUpIn, type RunningUp } from '../process.ts'
import { busybox, server } from './busybox.ts'
import { inNamespaces } from './namespaces.ts'
import { registryUser, startRegistry, type Registry } from './registry.ts'
import { withSeed } from './seed.ts'

const run = promisify(execFile)
const sh = (script: string) => ['/bin/sh', '-c', script]

inNamespaces(import.meta.url, () => {
  const { signal } = new AbortController()
  const kubectl = kubectls().at(-1)
  if (kubectl === undefined) throw new Error('there is no kubectl')
  let registry: Registry
  let folder: string
  let up: RunningUp
  let image: string
  before(async () => {
    registry = await startRegistry()
    image = registry.push('busybox:1', busybox({ command: server }))
    folder = await newFolder()
    up = await startUpIn(folder, '--runtime', 'containerd')
  })
  after(async () => {
    await up.end()
    await registry[Symbol.asyncDispose]()
  })

  const k = async (args: string[], input?: object) => {
    const { out, err, code } = await runKubectl(kubectl, up.kubeconfig, args, { input: JSON.stringify(input ?? '') })
    equal(code, 0, `kubectl ${args.join(' ')}: ${err}`)
    return out
  }
  const apply = (name: string, spec: object, labels = {}) =>
    k(['apply', '-f', '-'], { apiVersion: 'v1', kind: 'Pod', metadata: { name, labels }, spec })
  const read = async (name: string, path: string) => k(['get', 'pod', name, '-o', `jsonpath={${path}}`])
  const wait = async (name: string, path: string, value: string) => {
    const args = ['wait', `pod/${name}`, `--for=jsonpath={${path}}=${value}`, '--timeout=200s']
    await k(args).catch(async (error: unknown) => {
      throw new Error(await k(['describe', 'pod', name]), { cause: error })
    })
  }
  const events = (name: string) => k(['events', '--for', `pod/${name}`])
  const status = '.status.containerStatuses[0]'
  const quick = { terminationGracePeriodSeconds: 5 }

  test('images: missing ones are retried, private ones need credentials', async () => {
    const secret = registry.push('secret/app:1', busybox({ command: server }))
    await apply('missing', { ...quick, containers: [{ name: 'c', image: `${registry.host}/none:1` }] })
    await wait('missing', `${status}.state.waiting.reason`, 'ImagePullBackOff')
    await untilMatch(() => events('missing'), /Failed to pull image .* not found/)
    await apply('closed', { ...quick, containers: [{ name: 'c', image: secret }] })
    await wait('closed', `${status}.state.waiting.reason`, 'ImagePullBackOff')
    const { username, password } = registryUser
    const login = [`--docker-server=${registry.host}`, `--docker-username=${username}`, `--docker-password=${password}`]
    await k(['create', 'secret', 'docker-registry', 'login', ...login])
    const imagePullSecrets = [{ name: 'login' }]
    await apply('open', { ...quick, imagePullSecrets, containers: [{ name: 'c', image: secret }] })
    await wait('open', '.status.phase', 'Running')
    match(await read('open', `${status}.imageID`), /@sha256:[0-9a-f]{64}$/)
    await k(['delete', 'pod', 'missing', 'closed', 'open', '--timeout=200s'])
  })

  test('probes: a startup probe delays the others, a readiness probe sets ready, a liveness probe restarts', async () => {
    const script = 'sleep 2; echo up > /tmp/index.html; touch /tmp/alive; exec httpd -f -p 8080 -h /tmp'
    // This tests the results of probes, not how long a busy machine takes to start them.
    const patient = { periodSeconds: 1, timeoutSeconds: 60 }
    const probes = {
      startupProbe: { exec: { command: ['test', '-e', '/tmp/index.html'] }, failureThreshold: 20, ...patient },
      readinessProbe: { httpGet: { path: '/index.html', port: 'web' }, ...patient },
      livenessProbe: { exec: { command: ['cat', '/tmp/alive'] }, failureThreshold: 2, ...patient },
    }
    const ports = [{ name: 'web', containerPort: 8080 }]
    const containers = [{ name: 'c', image, command: sh(script), ports, ...probes }]
    await apply('probed', { terminationGracePeriodSeconds: 1, containers })
    await wait('probed', '.status.conditions[?(@.type=="Ready")].status', 'True')
    await k(['exec', 'probed', '--', '/bin/busybox', 'rm', '/tmp/alive'])
    await wait('probed', `${status}.restartCount`, '1')
    await untilMatch(() => events('probed'), /Liveness probe failed: cat: can't open '\/tmp\/alive'/)
    await untilMatch(() => events('probed'), /Container c failed liveness probe, will be restarted/)
    await k(['delete', 'pod', 'probed', '--timeout=200s'])
  })

  test('a crashing pod has a termination message and logs; hooks and an ephemeral container in a running pod', async () => {
    const crash = {
      name: 'c',
      image,
      command: sh('echo oops; exit 3'),
      terminationMessagePolicy: 'FallbackToLogsOnError',
    }
    await apply('crashes', { ...quick, containers: [crash] })
    await wait('crashes', `${status}.state.waiting.reason`, 'CrashLoopBackOff')
    equal(await read('crashes', `${status}.lastState.terminated.message`), 'oops\n')
    equal(await k(['logs', 'crashes', '--previous']), 'oops\n')
    const shared = { name: 'shared', emptyDir: {} }
    const volumeMounts = [{ name: 'shared', mountPath: '/shared' }]
    const lifecycle = {
      postStart: { exec: { command: sh('echo started > /shared/hook; echo started > /proc/1/fd/1') } },
      preStop: { exec: { command: sh('echo stopping > /proc/1/fd/1; sleep 1') } },
    }
    const side = { name: 'side', image, restartPolicy: 'Always' }
    const containers = [{ name: 'c', image, lifecycle, volumeMounts }]
    await apply('hooked', { ...quick, volumes: [shared], initContainers: [side], containers })
    await wait('hooked', '.status.phase', 'Running')
    equal(await k(['exec', 'hooked', '--', 'cat', '/shared/hook']), 'started\n')
    const look = ['--', 'sh', '-c', 'ps | grep -c "while true"']
    await k(['debug', 'hooked', `--image=${image}`, '--target=c', '-c', 'debugger', '--profile=general', ...look])
    await wait('hooked', '.status.ephemeralContainerStatuses[0].state.terminated.exitCode', '0')
    match(await k(['logs', 'hooked', '-c', 'debugger']), /^[1-9]/)
    const following = spawn(kubectl.path, ['logs', '-f', 'hooked', '-c', 'c'], {
      env: kubectlEnvironment(up.kubeconfig),
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const lines: string[] = []
    createInterface({ input: following.stdout }).on('line', (line) => lines.push(line))
    const closed = once(following, 'close')
    // The watch has sent the existing objects before it follows changes.
    await until(() => lines.length > 0)
    await k(['delete', 'pod', 'hooked', 'crashes', '--timeout=200s'])
    await closed
    deepEqual(lines, ['started', 'stopping'])
  })

  test('a pod on the node’s network has the node’s hostname, address and hosts file, and its own aliases', async () => {
    const script = 'echo "$(hostname) $NODE"; grep -c -e "localhost" -e "^192.0.2.7.alias$" /etc/hosts'
    const env = [{ name: 'NODE', valueFrom: { fieldRef: { fieldPath: 'status.hostIP' } } }]
    const hostAliases = [{ ip: '192.0.2.7', hostnames: ['alias'] }]
    await apply('host', {
      ...quick,
      hostNetwork: true,
      hostAliases,
      restartPolicy: 'Never',
      containers: [{ name: 'c', image, command: sh(script), env }],
    })
    await wait('host', '.status.phase', 'Succeeded')
    const [names, count] = (await k(['logs', 'host'])).split('\n')
    equal(names, `${hostname()} ${await read('host', '.status.podIP')}`)
    equal(Number(count) > 1, true, 'both the node’s entries and the alias')
    await k(['delete', 'pod', 'host', '--timeout=200s'])
  })

  test('a deadline terminates a pod, and a container that was killed from outside is restarted', async () => {
    await apply('late', { ...quick, activeDeadlineSeconds: 3, containers: [{ name: 'c', image }] })
    await apply('killed', { ...quick, containers: [{ name: 'c', image }] })
    await wait('killed', '.status.phase', 'Running')
    const id = (await read('killed', `${status}.containerID`)).replace('containerd://', '')
    await ctr('tasks', 'kill', '--signal', 'SIGKILL', id)
    await wait('killed', `${status}.restartCount`, '1')
    equal(await read('killed', `${status}.lastState.terminated.exitCode`), '137')
    await wait('late', '.status.reason', 'DeadlineExceeded')
    equal(await read('late', '.status.phase'), 'Failed')
    await k(['delete', 'pod', 'late', 'killed', '--timeout=200s'])
  })

  test('a file in the manifest directory is a static pod; an invalid file is reported and does not affect others', async () => {
    const manifests = join(folder, 'data/node/manifests')
    const spec = { ...quick, containers: [{ name: 'c', image }] }
    const manifest = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'own' }, spec }
    await writeFile(join(manifests, 'broken.yaml'), 'kind: [')
    await writeFile(join(manifests, 'own.yaml'), JSON.stringify(manifest))
    const name = `own-${hostname().toLowerCase()}`
    await until(async () => (await k(['get', 'pods', '-o', 'name'])).includes(name))
    await wait(name, '.status.phase', 'Running')
    equal(await read(name, '.metadata.ownerReferences[0].kind'), 'Node')
    const id = await read(name, `${status}.containerID`)
    await k(['delete', 'pod', name, '--timeout=200s'])
    await until(async () => (await k(['get', 'pods', '-o', 'name'])).includes(name))
    await wait(name, '.status.phase', 'Running')
    equal(await read(name, `${status}.containerID`), id, 'only its mirror was deleted')
    await rm(join(manifests, 'own.yaml'))
    await until(async () => !(await k(['get', 'pods', '-o', 'name'])).includes(name))
    await rm(join(manifests, 'broken.yaml'))
  })

  const ctr = async (...args: string[]) => {
    const socket = join(folder, 'data/node/containerd/containerd.sock')
    return (await run('ctr', ['--address', socket, '--namespace', 'k8s.io', ...args])).stdout
  }
  const containersOf = async () =>
    (await ctr('containers', 'ls', '-q'))
      .split('\n')
      .filter((line) => line !== '')
      .toSorted()
  const leftOf = async () => ({
    containers: await containersOf(),
    pods: await readdir(join(folder, 'data/node/pods')),
    logs: await readdir(join(folder, 'data/node/logs')),
    addresses: (await readdir(join(folder, 'data/node/addresses/coxswain')).catch(() => [])).filter((name) =>
      /^\d/.test(name),
    ),
    mounts: (await readFile('/proc/mounts', 'utf8')).split('\n').filter((line) => line.includes('data/node/pods')),
  })

  test('kills at random moments and restarts duplicate nothing, restart no container and leave nothing behind', () =>
    withSeed(async (random) => {
      const restart = async () => {
        await up.end('SIGKILL')
        up = await startUpIn(folder, '--runtime', 'containerd')
      }
      await k(['create', 'deployment', 'web', `--image=${image}`, '--replicas=3'])
      for (let round = 0; round < 3; round++) {
        await realClock.sleep(random.below(1500), signal)
        await restart()
      }
      await k(['rollout', 'status', 'deploy/web', '--timeout=200s'])
      const ids = ['get', 'pods', '-l', 'app=web', '-o', `jsonpath={.items[*]${status}.containerID}`]
      const idsBefore = (await k(ids)).split(' ').toSorted()
      // One sandbox and one container for each pod, as soon as the leftovers of earlier tests are removed.
      await until(async () => (await ctr('tasks', 'ls')).match(/RUNNING/g)?.length === 6)
      await restart()
      await k(['rollout', 'status', 'deploy/web', '--timeout=200s'])
      deepEqual((await k(ids)).split(' ').toSorted(), idsBefore, 'they keep running')
      const pidFile = join(folder, 'data/node/containerd/containerd.pid')
      const pid = await readFile(pidFile, 'utf8')
      process.kill(Number(pid), 'SIGKILL')
      await until(async () => (await readFile(pidFile, 'utf8')) !== pid)
      await k(['scale', 'deploy/web', '--replicas=4'])
      await k(['rollout', 'status', 'deploy/web', '--timeout=200s'])
      const idsAfter = (await k(ids)).split(' ')
      equal(
        idsBefore.every((id) => idsAfter.includes(id)),
        true,
        'they keep running without containerd, too',
      )
      await k(['delete', 'deploy/web', '--timeout=200s', '--wait=false'])
      await realClock.sleep(random.below(1000), signal)
      await restart()
      await k(['wait', 'pod', '-l', 'app=web', '--for=delete', '--timeout=200s'])
      deepEqual(await leftOf(), { containers: [], pods: [], logs: [], addresses: [], mounts: [] })
    }))
})
