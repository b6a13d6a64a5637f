// `coxswain k3s server` as root, with the steps of the modules of Testcontainers for k3s: wait for the log line, read the
// kubeconfig, import an image with ctr, run it. test/package/image.test.ts does the same in the image.
import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { imageArchive } from '../../src/wire/oci/oci-image.ts'
import { kubectls, runKubectl } from '../kubectl.ts'
import { coxswain, startProcess } from '../process.ts'
import { until } from '../until.ts'
import { busybox } from './busybox.ts'
import { inNamespaces } from './namespaces.ts'

const run = promisify(execFile)

inNamespaces(import.meta.url, () => {
  test('a module of Testcontainers imports an image into k3s, and runs it', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'coxswain-k3s-'))
    const data = join(folder, 'k3s', 'server')
    const kubeconfig = join(folder, 'etc', 'k3s.yaml')
    await mkdir(join(data, 'manifests'), { recursive: true, mode: 0o700 })
    await writeFile(
      join(data, 'manifests', 'a.yaml'),
      'apiVersion: v1\nkind: ConfigMap\nmetadata: { name: applied, namespace: default }\n',
    )
    // The control group of the pods has the name of the host, which a container has for itself.
    const host = basename(folder).toLowerCase()
    const inHost = ['--uts', 'sh', '-c', `echo ${host} >/proc/sys/kernel/hostname; exec "$@"`, 'sh', coxswain]
    const flags = ['--disable=traefik', '--tls-san=localhost', '--data-dir', join(folder, 'k3s')]
    const running = await startProcess([...inHost, 'k3s', 'server', ...flags], {
      program: 'unshare',
      env: { ...process.env, K3S_KUBECONFIG_MODE: '644', K3S_KUBECONFIG_OUTPUT: kubeconfig },
    })
    try {
      await until(() => /^Node controller sync successful$/m.test(running.logged()))
      equal((await stat(kubeconfig)).mode & 0o777, 0o644)
      const [kubectl] = kubectls()
      ok(kubectl !== undefined)
      const typed = async (...args: string[]) => {
        const { out, err, code } = await runKubectl(kubectl, kubeconfig, args)
        equal(code, 0, err)
        return out
      }
      match(await typed('get', 'nodes', '--no-headers', '-o', 'wide'), new RegExp(`^${host} +Ready .* containerd://`))

      const archive = join(folder, 'mine.tar')
      const image = busybox({ command: ['/bin/echo', 'imported'] })
      await writeFile(archive, imageArchive(image, 'docker.io/library/mine:1'))
      await run('ctr', ['-n=k8s.io', 'images', 'import', archive], {
        env: { ...process.env, CONTAINERD_ADDRESS: join(data, 'node', 'containerd', 'containerd.sock') },
      })
      await typed('run', 'mine', '--image=mine:1', '--image-pull-policy=Never', '--restart=Never')
      await typed('wait', 'pod/mine', '--for=jsonpath={.status.phase}=Succeeded', '--timeout=200s')
      equal(await typed('logs', 'mine'), 'imported\n')
      await typed('wait', 'configmap/applied', '--for=create', '--timeout=60s')
    } finally {
      equal(await running.end(), 0, running.logged())
    }
    const hierarchies = await readdir('/sys/fs/cgroup', { recursive: false })
    const groups = await Promise.all(
      ['', ...hierarchies].map((each) => readdir(join('/sys/fs/cgroup', each)).catch((): string[] => [])),
    )
    deepEqual(
      groups.flat().filter((name) => name === `coxswain-${host}`),
      [],
    )
    await rm(folder, { recursive: true, force: true })
  })
})
