// What a container may try in order to reach the node: symbolic links instead of directories, volumes and logs,
// archives with hostile paths, and trees that are too deep for a path.
import { deepEqual, doesNotMatch, equal, match } from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'
import { until } from '../until.ts'
import { bind, claim, volume } from './bound-claims.ts'
import { inNamespaces } from './namespaces.ts'
import { startRealUp, type RealUp } from './up.harness.ts'

const run = promisify(execFile)
const sh = (script: string) => ['/bin/sh', '-c', script]
const secretText = 'a secret of the node'
const rounds = process.env['COXSWAIN_LONG'] === '1' ? 100 : 8

inNamespaces(import.meta.url, () => {
  let up: RealUp
  let host: string
  let secret: string
  before(async () => {
    up = await startRealUp()
    host = await mkdtemp(join(tmpdir(), 'coxswain-attack-'))
    await mkdir(join(host, 'inside'))
    secret = join(host, 'inside', 'secret')
    await writeFile(secret, secretText)
    await chmod(secret, 0o600)
  })
  after(async () => {
    await up[Symbol.asyncDispose]()
    await rm(host, { recursive: true, force: true })
  })

  const pod = (name: string, spec: object) => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name },
    spec: { terminationGracePeriodSeconds: 1, ...spec },
  })
  const container = (more: object) => ({ name: 'c', image: up.image, ...more })
  const read = (name: string, path: string) => up.k(['get', 'pod', name, '-o', `jsonpath={${path}}`])
  const waits = '.status.containerStatuses[0].state.waiting.reason'
  const remove = (...names: string[]) => up.k(['delete', 'pod', ...names, '--timeout=200s'])
  const ready = (name: string) => up.k(['wait', `pod/${name}`, '--for=condition=Ready', '--timeout=200s'])

  /** `d` alternates between a directory and a link to the node's directory, as fast as a shell can. */
  const swaps = (target: string) => `cd /v
mkdir -p folder; /bin/busybox ln -s ${target} link; /bin/busybox mv folder d; touch ready
while true; do
  /bin/busybox mv d folder; /bin/busybox mv link d
  /bin/busybox mv d link; /bin/busybox mv folder d
done`

  test('a directory that becomes a link while a subPath of it is mounted', async () => {
    const shared = join(host, 'shared')
    await mkdir(shared)
    const volumes = [{ name: 'v', hostPath: { path: shared } }]
    const whole = [{ name: 'v', mountPath: '/v' }]
    const part = [{ name: 'v', mountPath: '/part', subPath: 'd' }]
    const swapper = container({ command: sh(swaps(join(host, 'inside'))), volumeMounts: whole })
    await up.apply(pod('swapper', { volumes, containers: [swapper] }))
    await until(async () => (await readdir(shared)).includes('ready'))
    const names = Array.from({ length: rounds }, (_, index) => `victim-${index}`)
    const victim = container({ command: sh('cat /part/* 2>&1; ls /part; echo looked'), volumeMounts: part })
    for (const name of names) {
      await up.apply(pod(name, { restartPolicy: 'Never', volumes, containers: [victim] }))
      await until(
        async () =>
          (await read(name, '.status.phase')) === 'Succeeded' ||
          (await read(name, waits)) === 'CreateContainerConfigError',
      )
      if ((await read(name, '.status.phase')) !== 'Succeeded') continue
      const printed = await up.k(['logs', name])
      match(printed, /looked/)
      doesNotMatch(printed, /secret/)
    }
    await remove('swapper', ...names)
  })

  test("a directory that becomes a link while the volume's group is changed", async () => {
    const shared = join(host, 'given')
    await mkdir(shared)
    const nodeAffinity = {
      required: { nodeSelectorTerms: [{ matchExpressions: [{ key: 'kubernetes.io/os', operator: 'Exists' }] }] },
    }
    await up.apply(volume('given', { local: { path: shared }, nodeAffinity }), claim('given'))
    await bind(up, 'given')
    const volumes = [{ name: 'v', persistentVolumeClaim: { claimName: 'given' } }]
    const volumeMounts = [{ name: 'v', mountPath: '/v' }]
    const many = `cd /v; mkdir many; cd many; for i in $(seq 2000); do touch $i; done; ${swaps(join(host, 'inside'))}`
    const swapper = container({ command: sh(many), volumeMounts })
    await up.apply(pod('giver', { volumes, containers: [swapper] }))
    await until(async () => (await readdir(shared)).includes('ready'))
    const names = Array.from({ length: rounds }, (_, index) => `taker-${index}`)
    const taker = container({ command: sh('true'), volumeMounts })
    for (const name of names) {
      const securityContext = { fsGroup: 2000 + names.indexOf(name) }
      await up.apply(pod(name, { restartPolicy: 'Never', securityContext, volumes, containers: [taker] }))
      await up.k(['wait', `pod/${name}`, '--for=jsonpath={.status.phase}=Succeeded', '--timeout=200s'])
    }
    const { gid, mode } = await stat(secret)
    deepEqual([gid, (mode & 0o7777).toString(8)], [0, '600'])
    equal((await stat(join(shared, 'many', '7'))).gid, 2000 + rounds - 1)
    await remove('giver', ...names)
  })

  test('a log that becomes a link', async () => {
    const logs = join(up.podsFolder, '..', 'logs')
    await up.apply(pod('talks', { containers: [container({ command: sh('echo own; exec sleep 1000') })] }))
    await ready('talks')
    await until(async () => (await up.k(['logs', 'talks'])) === 'own\n')
    const path = `/logs/default_talks_${await read('talks', '.metadata.uid')}/c/0.log`
    const line = `2030-01-01T00:00:00.000000000Z stdout F ${secretText}\n`
    await writeFile(join(host, 'inside', 'lines'), line)
    const replace = `/bin/busybox rm ${path}; /bin/busybox ln -s ${join(host, 'inside', 'lines')} ${path}; exec sleep 1000`
    const volumes = [{ name: 'logs', hostPath: { path: logs } }]
    const volumeMounts = [{ name: 'logs', mountPath: '/logs' }]
    await up.apply(pod('replaces', { volumes, containers: [container({ command: sh(replace), volumeMounts })] }))
    await ready('replaces')
    await until(async () => !(await up.k(['logs', 'talks'])).includes('own'))
    equal(await up.k(['logs', 'talks']), '')
    await remove('talks', 'replaces')
    equal(await readFile(join(host, 'inside', 'lines'), 'utf8'), line, 'and it is not removed through the link')
  })

  test('kubectl cp of an archive with hostile paths', async () => {
    const making = join(host, 'archive')
    await mkdir(making)
    await writeFile(join(making, 'f'), 'evil')
    await symlink(join(host, 'inside'), join(making, 'link'))
    const archive = join(host, 'archive.tar')
    const tar = (...args: string[]) => run('tar', ['-C', making, '-P', '-f', archive, ...args])
    await tar('-c', '--transform=s,^f$,files/good,', 'f')
    await tar('-r', '--transform=s,^link$,files/link,S', 'link')
    await tar('-r', '--transform=s,^f$,files/link/through,', 'f')
    await tar('-r', '--transform=s,^f$,files/../../escaped,', 'f')
    await tar('-r', '--transform=s,^f$,../../escaped,', 'f')
    await tar('-r', `--transform=s,^f$,${host}/absolute,`, 'f')
    const program = '#!/bin/sh\nexec cat /evil/archive'
    await writeFile(join(host, 'tar'), program)
    await up.k([
      'create',
      'configmap',
      'evil',
      `--from-file=archive=${archive}`,
      `--from-file=tar=${join(host, 'tar')}`,
    ])
    const volumes = [{ name: 'evil', configMap: { name: 'evil', defaultMode: 0o755 } }]
    const volumeMounts = [{ name: 'evil', mountPath: '/evil' }]
    const env = [{ name: 'PATH', value: '/evil:/bin' }]
    await up.apply(pod('sends', { volumes, containers: [container({ volumeMounts, env })] }))
    await ready('sends')
    const received = join(host, 'received', 'deep', 'here')
    await mkdir(received, { recursive: true })
    // It reports that the archive is corrupt, and exits with 1, when it reaches a path outside of the requested one.
    await up.k(['cp', 'sends:files', received]).catch(() => {})
    equal(await readFile(join(received, 'good'), 'utf8'), 'evil')
    const others = [join(host, 'received', 'escaped'), join(host, 'escaped'), join(host, 'absolute')]
    for (const path of [...others, join(host, 'inside', 'through')])
      equal(await stat(path).catch(() => undefined), undefined, path)
    await remove('sends')
  })

  test('directories nested deeper than a path allows, and many files', async () => {
    const name = 'd'.repeat(50)
    const nest = `cd /v; i=0; while [ $i -lt 450 ]; do mkdir ${name}; cd -P ${name}; i=$((i+1)); done; echo x > f
cd /v; mkdir many; cd many; for i in $(seq 5000); do echo > $i; done; echo done`
    const volumes = [{ name: 'v', emptyDir: {} }]
    const volumeMounts = [{ name: 'v', mountPath: '/v' }]
    await up.apply(
      pod('nests', { restartPolicy: 'Never', volumes, containers: [container({ command: sh(nest), volumeMounts })] }),
    )
    await up.k(['wait', 'pod/nests', '--for=jsonpath={.status.phase}=Succeeded', '--timeout=200s'])
    equal(await up.k(['logs', 'nests']), 'done\n')
    await remove('nests')
    // The object of a finished pod is deleted at once, its leftovers soon afterwards.
    await until(async () => (await readdir(up.podsFolder)).length === 0)
  })
})
