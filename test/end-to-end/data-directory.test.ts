// Data directories as users handle them: fewer nodes than before, a restored cluster in another directory, and a reset
// that leaves nothing in etcd.
import { deepEqual, equal, match } from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { EtcdCluster, newestEtcd } from '../etcd.ts'
import { kubectls, runKubectl } from '../kubectl.ts'
import { coxswain, newFolder, startUp, startUpIn } from '../process.ts'
import { untilMatch } from '../until.ts'

const kubectl = kubectls().at(-1)

async function k(kubeconfig: string, ...args: string[]): Promise<string> {
  if (kubectl === undefined) throw new Error('there is no kubectl')
  const { code, out, err } = await runKubectl(kubectl, kubeconfig, args)
  equal(code, 0, `kubectl ${args.join(' ')}: ${err}`)
  return out
}

/** Runs a command; resolves with its exit code and its output. */
const typed = (...args: string[]): Promise<[code: number, printed: string]> =>
  new Promise((resolve) =>
    execFile(coxswain, args, (error, out, err) => resolve([error === null ? 0 : Number(error.code), `${out}${err}`])),
  )

test('fewer nodes than before, and a restore into another directory with the same keys', async () => {
  const folder = await newFolder()
  const elsewhere = await newFolder()
  const data = ['--data-dir', join(folder, 'data')]
  const names = ['get', 'nodes', '-o', 'jsonpath={.items[*].metadata.name}']
  try {
    const first = await startUpIn(folder, '--nodes', '3')
    await k(first.kubeconfig, 'create', 'deployment', 'web', '--image=nginx', '--replicas=6')
    await k(first.kubeconfig, 'rollout', 'status', 'deployment/web', '--timeout=200s')
    await first.end()

    const second = await startUpIn(folder, '--nodes', '1')
    await untilMatch(() => k(second.kubeconfig, ...names), /^node-0$/)
    await k(second.kubeconfig, 'rollout', 'status', 'deployment/web', '--timeout=200s')
    const places = ['get', 'pods', '-o', 'jsonpath={.items[*].spec.nodeName}']
    await untilMatch(() => k(second.kubeconfig, ...places), /^node-0( node-0){5}$/)
    const token = (await k(second.kubeconfig, 'create', 'token', 'default', '--duration=1h')).trim()
    const phrase = join(folder, 'passphrase')
    await writeFile(phrase, 'correct horse\n', { mode: 0o600 })
    const copy = join(folder, 'copy')
    match((await typed('snapshot', copy, '--passphrase-file', phrase, ...data))[1], /includes the CAs, the key/)
    const caOf = (path: string) =>
      k(path, 'config', 'view', '--raw', '-o', 'jsonpath={.clusters[0].cluster.certificate-authority-data}')
    const authority = await caOf(second.kubeconfig)
    await second.end()

    const other = ['--data-dir', join(elsewhere, 'data')]
    match(
      (await typed('restore', copy, '--passphrase-file', phrase, ...other))[1],
      /held no cluster before[^]*tokens and certificates stay valid/,
    )
    await using restored = await startUpIn(elsewhere)
    equal(await caOf(restored.kubeconfig), authority)
    const server = await k(restored.kubeconfig, 'config', 'view', '-o', 'jsonpath={.clusters[0].cluster.server}')
    // The certificate in the kubeconfig would take precedence over the token.
    const bare = join(elsewhere, 'bare')
    await writeFile(bare, '')
    const reviewed = await k(bare, '--server', server, '--insecure-skip-tls-verify', '--token', token, 'auth', 'whoami')
    match(reviewed, /system:serviceaccount:default:default/)
  } finally {
    for (const one of [folder, elsewhere]) await rm(one, { recursive: true, force: true })
  }
})

test('a reset removes the keys of the cluster from etcd, and no other keys', async () => {
  await using etcd = await EtcdCluster.start(newestEtcd(), 1)
  const { authority, certificate, key } = etcd.files
  const store = ['--store', `etcd=${etcd.endpoints.join(',')}`]
  const tls = ['--etcd-cafile', authority, '--etcd-certfile', certificate, '--etcd-keyfile', key]
  const { signal } = new AbortController()
  const count = async () => {
    const open = await etcd.openStore()
    try {
      return (await open.range({ start: '/registry/', end: '/registry0' }, signal)).items.length
    } finally {
      await open.close()
    }
  }
  const first = await startUp(...store, ...tls)
  const second = await newFolder()
  try {
    const data = ['--data-dir', join(first.folder, 'data')]
    await first.end()
    match((await typed('reset', ...data))[1], /all keys below \/registry in etcd at https:/)
    const [code, printed] = await typed('reset', '--yes', ...data)
    equal(code, 0, printed)
    match(printed, /\n?\d{2,} keys are removed from etcd at https:[^]*The cluster is removed from/)
    equal(await count(), 0)

    // Objects of another cluster: this directory has not started it.
    await (await startUp(...store, ...tls)).end()
    await (await startUpIn(second, ...store, ...tls)).end()
    const before = await count()
    const late = ['--data-dir', join(second, 'data')]
    match(
      (await typed('reset', '--yes', ...late))[1],
      /The keys in etcd at \S+ stay, because others were there before this cluster/,
    )
    deepEqual([before > 0, await count()], [true, before])
  } finally {
    for (const one of [first.folder, second]) await rm(one, { recursive: true, force: true })
  }
})

/** A disk of 32 KiB that only the command can access; `used` bytes of it are in use. */
const onFullDisk = (used: number): Promise<string> =>
  new Promise((resolve) =>
    execFile(
      'unshare',
      [
        ...['--mount', '--map-root-user', 'sh', '-c'],
        'mount -t tmpfs -o size=32k tmpfs /mnt && mkdir -m 700 /mnt/data && head -c "$2" /dev/zero > /mnt/ballast; "$1" up --runtime none --port 0 --data-dir /mnt/data; find /mnt/data -type f',
        ...['sh', coxswain, String(used)],
      ],
      (_, out, err) => resolve(`${err}${out}`),
    ),
  )

const fullDisks: [used: number, message: RegExp][] = [
  [32_768, /^coxswain up: cannot lock \/mnt\/data with \/mnt\/data\/lock: ENOSPC: .*\n$/],
  [28_672, /^coxswain up: cannot write \/mnt\/data\/coxswain\.json: ENOSPC: .*\n$/],
]
for (const [used, message] of fullDisks)
  test(`a disk with ${32_768 - used} bytes: the error names the file, and no lock is left behind`, async () =>
    match(await onFullDisk(used), message))
