// coxswain up as root without --runtime: real containers where they are available, and nothing of them left on the
// machine after a stop or reset.
import { deepEqual, equal, match, rejects } from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { test } from 'node:test'
import { NodeCgroups } from '../../src/machine/cgroups/node-cgroups.ts'
import { busybox, server } from '../containers/busybox.ts'
import { inNamespaces } from '../containers/namespaces.ts'
import { startRegistry } from '../containers/registry.ts'
import { runKubectl } from '../kubectl.ts'
import { coxswain, newFolder, startProcess, startUpIn } from '../process.ts'
import { until } from '../until.ts'
import { newest } from './joining.harness.ts'

const links = () =>
  execFileSync('ip', ['-o', 'link', 'show'], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
/** What a node leaves on its machine: its bridge, mounts below its directory, processes of its containers. */
const traces = (folder: string): readonly string[] => {
  const mounts = readFileSync('/proc/self/mounts', 'utf8').split('\n')
  const programs = readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return []
    try {
      return [readFileSync(`/proc/${name}/cmdline`, 'utf8').split('\0')[0] ?? '']
    } catch {
      return [] // it has exited meanwhile
    }
  })
  return [
    ...(links().includes('coxswain0') ? ['the bridge'] : []),
    ...mounts.filter((line) => line.includes(folder)).map((line) => `mounted ${line.split(' ')[1]}`),
    ...programs.filter((program) => /containerd|\/pause$/.test(program)),
  ]
}

/** A network of the machine, with the address of the machine in it. */
function otherNetwork(address: string): Disposable {
  const ip = (...args: string[]) => execFileSync('ip', args)
  ip('link', 'add', 'other0', 'type', 'bridge')
  ip('addr', 'add', address, 'dev', 'other0')
  ip('link', 'set', 'other0', 'up')
  return { [Symbol.dispose]: () => void ip('link', 'del', 'other0') }
}

inNamespaces(import.meta.url, () => {
  test('real containers by default; a stop ends them, a start restores them, a reset leaves nothing behind', async () => {
    await using registry = await startRegistry()
    const image = registry.push('busybox:1', busybox({ command: server }))
    const folder = await newFolder()
    const cgroupRoot = `/${basename(folder)}`
    const start = () => startUpIn(folder, '--runtime', 'auto', '--cgroup-root', cgroupRoot)
    const k = async (...args: string[]) => {
      const { code, out, err } = await runKubectl(newest(), join(folder, 'kubeconfig'), args)
      equal(code, 0, err)
      return out
    }
    await using first = await start()
    await until(() => first.printed().includes('runs containers with containerd://'))
    match(first.printed(), /nodes +this machine: real containers through containerd, which is being started/)
    await k('create', 'deployment', 'web', `--image=${image}`)
    await k('rollout', 'status', 'deploy/web', '--timeout=200s')
    match(links(), /coxswain0/)
    equal(await first.end(), 0)
    const kept = traces(folder).filter((trace) => !trace.includes('/volumes/'))
    deepEqual(kept, [], 'after a stop the volumes of pods wait for the next start, and nothing else is left')

    await using second = await start()
    const restarts = [
      'get',
      'pods',
      '-l',
      'app=web',
      '-o',
      'jsonpath={.items[*].status.containerStatuses[0].restartCount}',
    ]
    await until(async () => (await k(...restarts)) === '1')
    await k('rollout', 'status', 'deploy/web', '--timeout=200s')
    await second.end('SIGKILL')
    match(links(), /coxswain0/)
    execFileSync(coxswain, ['reset', '--yes', '--data-dir', join(folder, 'data')])
    deepEqual(traces(folder), [], 'after a reset')
    equal(existsSync(join(folder, 'data')), false)
    const cgroups = await NodeCgroups.open()
    for (const one of ['', '/burstable', '/besteffort'])
      equal((await cgroups.list(`${cgroupRoot}/kubepods${one}`)).filter((name) => name.startsWith('pod')).length, 0)
    await cgroups.remove(cgroupRoot)
    rmSync(folder, { recursive: true })
  })

  test('a stop leaves containers and their network, a start adopts them, and down --containers ends them', async () => {
    await using registry = await startRegistry()
    const image = registry.push('busybox:1', busybox({ command: server }))
    const folder = await newFolder()
    const data = join(folder, 'data')
    const kubeconfig = join(folder, 'kubeconfig')
    const flags = [
      '--port',
      '0',
      '--data-dir',
      data,
      '--kubeconfig',
      kubeconfig,
      '--cgroup-root',
      `/${basename(folder)}`,
    ]
    const start = () => startProcess(['up', '--runtime', 'containerd', ...flags])
    const k = async (...args: string[]) => {
      const { code, out, err } = await runKubectl(newest(), kubeconfig, args)
      equal(code, 0, err)
      return out
    }
    const down = (...options: string[]) =>
      execFileSync(coxswain, ['down', '--data-dir', data, ...options], { encoding: 'utf8' })
    const status =
      'jsonpath={.items[*].status.containerStatuses[*].restartCount} {.items[*].status.containerStatuses[*].containerID}'
    const tables = () => execFileSync('nft', ['list', 'tables'], { encoding: 'utf8' })
    await using first = await start()
    await until(() =>
      first
        .printed()
        .includes(`Ctrl-C ends it; containers keep running until: coxswain down --containers --data-dir ${data}\n`),
    )
    await k('create', 'deployment', 'web', `--image=${image}`)
    await k('rollout', 'status', 'deploy/web', '--timeout=200s')
    const before = await k('get', 'pods', '-o', status)
    const kept = `The containers of 1 pod keep running. To end them: coxswain down --containers --data-dir ${data}\n`
    equal(down(), `Process ${first.pid} has ended.\n${kept}`)
    equal(await first.end(), 0)
    equal(down(), `No process runs in ${data}.\n${kept}`)
    const { stdout } = spawnSync(coxswain, ['status', '--data-dir', data], { encoding: 'utf8' })
    match(
      stdout,
      /^not running; start it: coxswain up --data-dir .*\n(.*\n)? +containers +those of 1 pod keep running; /,
    )
    match(tables(), /coxswain-proxy/)
    match(links(), /coxswain0/)
    const programs = traces(folder).filter((trace) => !trace.startsWith('mounted'))
    equal(programs.filter((program) => program.endsWith('/pause')).length, 1, 'its sandbox runs')
    equal(programs.filter((program) => program.endsWith('/containerd')).length, 0, 'containerd has ended')

    await using second = await start()
    await k('rollout', 'status', 'deploy/web', '--timeout=200s')
    equal(await k('get', 'pods', '-o', status), before)
    equal(down('--containers'), `Process ${second.pid} has ended.\nThe containers of 1 pod have ended.\n`)
    equal(await second.end(), 0)
    deepEqual(
      traces(folder).filter((trace) => !trace.includes('/volumes/')),
      [],
    )
    equal(tables().includes('coxswain'), false)
    equal(down('--containers'), `Nothing runs in ${data}.\n`)
    execFileSync(coxswain, ['reset', '--yes', '--data-dir', data])
    await (await NodeCgroups.open()).remove(`/${basename(folder)}`)
    rmSync(folder, { recursive: true })
  })

  test('simulated nodes are used, with the reason, on a machine where no sandbox can start', async () => {
    const folder = await newFolder()
    const [programs, data, kubeconfig] = ['programs', 'data', 'kubeconfig'].map((name) => join(folder, name)) as [
      string,
      string,
      string,
    ]
    mkdirSync(programs)
    writeFileSync(join(programs, 'runc'), '#!/bin/sh\nexit 1\n', { mode: 0o755 })
    const env = { ...process.env, PATH: `${programs}:${process.env['PATH']}` }
    const flags = ['--port', '0', '--data-dir', data, '--kubeconfig', kubeconfig, '--stop-containers']
    const up = (runtime: string) =>
      startProcess(['up', '--runtime', runtime, ...flags, '--cgroup-root', `/${basename(folder)}`], { env })

    await using automatic = await up('auto')
    await until(() => automatic.printed().includes('No real containers'))
    match(
      automatic.printed(),
      /No real containers: no container can be started on this machine: .+\n.*simulated node runs instead/,
    )
    const nodes = async () =>
      (await runKubectl(newest(), kubeconfig, ['get', 'nodes', '-o', 'jsonpath={.items[*].metadata.name}'])).out
    await until(async () => (await nodes()) !== '')
    equal(await nodes(), 'node-0')
    equal(await automatic.end(), 0)

    await rejects(up('containerd'), /no container can be started on this machine/)
    deepEqual(traces(folder), [])
    await (await NodeCgroups.open()).remove(`/${basename(folder)}`)
    rmSync(folder, { recursive: true })
  })

  test('simulated nodes are used, with a message, where the pod network would overlap another network', async () => {
    using _other = otherNetwork('10.244.7.1/16')
    const folder = await newFolder()
    await using up = await startUpIn(folder, '--runtime', 'auto')
    await until(() => up.printed().includes('No real containers'))
    match(
      up.printed(),
      /No real containers: the addresses of pods, 10\.244\.0\.0\/24, overlap those of other0 \(10\.244\.\d\.\d\/16\).*\n.*simulated node runs instead/,
    )
    const kubeconfig = join(folder, 'kubeconfig')
    await until(async () => (await runKubectl(newest(), kubeconfig, ['get', 'node', 'node-0'])).code === 0)
    deepEqual(traces(folder), [])
    rmSync(folder, { recursive: true })
  })

  for (const runtime of ['auto', 'containerd'])
    test(`up --runtime ${runtime} is refused, before it changes anything, where Services would have addresses of the machine`, async () => {
      using _other = otherNetwork('10.99.0.1/24')
      const folder = await newFolder()
      await rejects(startUpIn(folder, '--runtime', runtime, '--bind', '10.99.0.1'), {
        message:
          /the addresses of Services, 10\.96\.0\.0\/12, overlap those of other0 \(10\.99\.0\.\d\/24\); start the cluster with others: --service-cluster-ip-range 172\.20\.0\.0\/16\n$/,
      })
      equal(execFileSync('nft', ['list', 'tables'], { encoding: 'utf8' }).includes('coxswain'), false)
      deepEqual(traces(folder), [])
      deepEqual(
        readdirSync(folder, { recursive: true }).filter((name) => String(name).includes('store.db')),
        [],
      )
      rmSync(folder, { recursive: true })
    })
})
