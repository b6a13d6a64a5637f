// The container image. COXSWAIN_LONG=1 makes it from Debian's packages, which are downloaded, and runs it in containerd: as an
// ordinary user, and with all privileges and the steps of the modules of Testcontainers for k3s.
import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { execFile, spawn, spawnSync } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, test } from 'node:test'
import { promisify } from 'node:util'
// @ts-expect-error -- plain JavaScript, as all scripts
import { imageDescription, makeImage, packages } from '../../scripts/image.mjs'
import { namespacesMarker } from '../../scripts/namespaces.mjs'
import packageFields from '../../package.json' with { type: 'json' }
import { k3sServerOf } from '../../src/cli/options/k3s-options.ts'
import { imageArchive, type ImageDescription } from '../../src/wire/oci/oci-image.ts'
import { busybox } from '../containers/busybox.ts'
import { startContainerd } from '../containers/containerd.harness.ts'
import { inNamespaces } from '../containers/namespaces.ts'
import { kubectls, runKubectl } from '../kubectl.ts'
import { until } from '../until.ts'

const isLong = process.env['COXSWAIN_LONG'] === '1'
const described = (imageDescription as (lower: [], files: []) => ImageDescription)([], [])
const { entrypoint = [] } = described
const image = `docker.io/library/coxswain:${packageFields.version}`
const run = promisify(execFile)

test('the environment of the image names the files of its entry point', () => {
  const { dataDirectory, kubeconfig } = k3sServerOf({}, {})
  deepEqual([...entrypoint.slice(-2), ...(described.command ?? [])], ['/usr/bin/coxswain', 'k3s', 'server'])
  const environment = Object.fromEntries((described.environment ?? []).map((entry) => entry.split('=')))
  equal(environment['CONTAINERD_ADDRESS'], join(dataDirectory, 'node', 'containerd', 'containerd.sock'))
  equal(environment['KUBECONFIG'], kubeconfig.path)
  deepEqual(described.volumes, [dirname(dataDirectory)])
  for (const name of ['containerd', 'runc', 'iproute2', 'nftables', 'containernetworking-plugins', entrypoint[0] ?? ''])
    ok((packages as string[]).includes(name.replace('/usr/bin/', '')), name)
})

/** A process with a network of its own, and the two ends of a cable between that and the network of the test. */
const addresses = { test: '192.168.99.1', container: '192.168.99.2' }

async function connectedNetwork(): Promise<{ readonly pid: number } & Disposable> {
  const holder = spawn('unshare', ['--net', 'sh', '-c', 'echo ready; exec sleep infinity'])
  await new Promise((resolve) => holder.stdout.once('data', resolve))
  const script = `ip link add test0 type veth peer name eth0 netns $1 &&
    ip address add ${addresses.test}/24 dev test0 && ip link set test0 up &&
    nsenter --target $1 --net sh -c 'ip address add ${addresses.container}/24 dev eth0 &&
      ip link set eth0 up && ip link set lo up && ip route add default via ${addresses.test}'`
  await run('sh', ['-c', script, 'sh', String(holder.pid)])
  return { pid: holder.pid ?? 0, [Symbol.dispose]: () => void holder.kill('SIGKILL') }
}

const server = ['server', '--disable=traefik', `--tls-san=${addresses.container}`]
/** What each module of Testcontainers mounts. */
const mounts = [
  'type=bind,src=/sys/fs/cgroup,dst=/sys/fs/cgroup,options=rbind:rw',
  'type=tmpfs,src=tmpfs,dst=/run',
  'type=tmpfs,src=tmpfs,dst=/var/run',
].flatMap((mount) => ['--mount', mount])

/** Names the archive for the test in namespaces, from which nothing can be downloaded. */
const archiveVariable = 'COXSWAIN_TEST_IMAGE'

if (isLong && process.env[namespacesMarker] !== '1') {
  const folder = await mkdtemp(join(tmpdir(), 'coxswain-image-'))
  after(() => rm(folder, { recursive: true, force: true }))
  test('the image is made from packages', async () => {
    const archive = join(folder, 'coxswain.tar')
    equal(await (makeImage as (file: string) => Promise<string>)(archive), image)
    process.env[archiveVariable] = archive
  })
}

if (isLong)
  inNamespaces(
    import.meta.url,
    () => {
      test('the image runs as an ordinary user, as root, and with all privileges', async () => {
        const { signal } = new AbortController()
        const folder = await mkdtemp(join(tmpdir(), 'coxswain-image-'))
        await using outer = await startContainerd(signal)
        using network = await connectedNetwork()
        const ctr = (...args: string[]) =>
          run('ctr', ['--address', outer.containerd.socketPath, '--namespace', 'default', ...args])
        await ctr('images', 'import', '--snapshotter', 'native', process.env[archiveVariable] ?? '')
        const [kubectl] = kubectls()
        ok(kubectl !== undefined)

        /** Runs the image as a module of Testcontainers does; `steps` gets what an administrator uses from outside. */
        const used = async (
          name: string,
          {
            options = [],
            wrapper = [],
          }: { readonly options?: readonly string[]; readonly wrapper?: readonly string[] },
          steps: (tools: {
            readonly kubectl: (...args: string[]) => Promise<string>
            readonly inside: (args: readonly string[], input?: Uint8Array) => string
          }) => Promise<void>,
        ) => {
          const log = join(folder, `${name}.log`)
          const logged = () => readFile(log, 'utf8').catch(() => '')
          const start = ['run', '--detach', '--snapshotter', 'native', '--log-uri', `file://${log}`]
          const withNetwork = ['--with-ns', `network:/proc/${network.pid}/ns/net`]
          await ctr(...start, ...withNetwork, ...options, image, name, ...wrapper, ...entrypoint, ...server)
          try {
            await until(async () => {
              const text = await logged()
              if (!text.includes('Node controller sync successful')) {
                const { stdout } = await ctr('task', 'ls')
                match(stdout, new RegExp(`^${name} .*RUNNING`, 'm'), text)
                return false
              }
              return true
            })
            let calls = 0
            const inside = (args: readonly string[], input?: Uint8Array) => {
              const exec = ['task', 'exec', '--exec-id', `call-${calls++}`, name, ...args]
              const { status, stdout, stderr } = spawnSync(
                'ctr',
                ['--address', outer.containerd.socketPath, '--namespace', 'default', ...exec],
                { input: input ?? '', encoding: 'utf8' },
              )
              equal(status, 0, stderr)
              return stdout
            }
            const given = inside(['cat', '/etc/rancher/k3s/k3s.yaml'])
            match(given, /^ {4}server: https:\/\/127\.0\.0\.1:6443$/m)
            const kubeconfig = join(folder, `${name}.kubeconfig`)
            await writeFile(kubeconfig, given.replace('https://127.0.0.1:', `https://${addresses.container}:`))
            await steps({
              inside,
              async kubectl(...args) {
                const { out, err, code } = await runKubectl(kubectl, kubeconfig, args)
                equal(code, 0, `${args.join(' ')}: ${err}${await logged()}`)
                return out
              },
            })
            await ctr('task', 'kill', '--signal', 'SIGTERM', name)
            await until(async () => /STOPPED/.test((await ctr('task', 'ls')).stdout))
          } finally {
            await ctr('task', 'rm', '--force', name).catch(() => {}) // it has ended
            await ctr('containers', 'rm', name)
          }
        }

        // This ctr has no flag for a user.
        const wrapper = [
          'setpriv',
          '--reuid=1000',
          '--regid=1000',
          '--clear-groups',
          '--no-new-privs',
          '--bounding-set=-all',
        ]
        await used('ordinary', { wrapper }, async ({ kubectl: typed, inside }) => {
          match(await typed('get', 'nodes', '-o', 'wide', '--no-headers'), /^node-0 +Ready .* simulated:/)
          await typed('create', 'deployment', 'web', '--image=nginx')
          await typed('rollout', 'status', 'deployment/web', '--timeout=60s')
          match(inside(['kubectl', 'why', 'deployment/web']), /^deployment\/web\n/)
        })

        await used('root', {}, async ({ kubectl: typed }) => {
          match(await typed('get', 'nodes', '-o', 'wide', '--no-headers'), /^node-0 +Ready .* simulated:/)
        })

        const volume = join(folder, 'volume')
        await mkdir(join(volume, 'server', 'manifests'), { recursive: true })
        await writeFile(
          join(volume, 'server', 'manifests', 'a.yaml'),
          'apiVersion: v1\nkind: ConfigMap\nmetadata: { name: applied, namespace: default }\n',
        )
        const inVolume = ['--mount', `type=bind,src=${volume},dst=/var/lib/rancher/k3s,options=rbind:rw`]
        const privileged = ['--privileged', ...mounts, ...inVolume, '--env', 'K3S_KUBECONFIG_MODE=644']
        await used('privileged', { options: privileged }, async ({ kubectl: typed, inside }) => {
          const node = await typed('get', 'nodes', '-o', 'wide', '--no-headers')
          match(node, new RegExp(`Ready .* ${addresses.container} .* containerd://`))
          const mine = imageArchive(busybox({ command: ['/bin/echo', 'imported'] }), 'docker.io/library/mine:1')
          inside(['sh', '-c', 'cat >/tmp/mine.tar'], mine)
          match(inside(['ctr', '-n=k8s.io', 'images', 'import', '/tmp/mine.tar']), /docker\.io\/library\/mine:1/)
          await typed('run', 'mine', '--image=mine:1', '--image-pull-policy=Never', '--restart=Never')
          await typed('wait', 'pod/mine', '--for=jsonpath={.status.phase}=Succeeded', '--timeout=100s')
          equal(await typed('logs', 'mine'), 'imported\n')
          await typed('wait', 'configmap/applied', '--for=create', '--timeout=60s')
          equal(inside(['stat', '--format', '%a', '/etc/rancher/k3s/k3s.yaml']).trim(), '644')
        })
        await rm(folder, { recursive: true, force: true })
      })
    },
    600_000,
  )
