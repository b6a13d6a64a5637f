// coxswain up --detach and coxswain down, as in a script of a CI job.
import { deepEqual, equal, match } from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { kubectls, runKubectl } from '../kubectl.ts'
import { coxswain, newFolder } from '../process.ts'

const run = (...args: string[]) => runIn(process.env, ...args)

const runIn = (env: NodeJS.ProcessEnv, ...args: string[]) =>
  promisify(execFile)(coxswain, args, { env }).then(
    ({ stdout }) => ({ code: 0, out: stdout, err: '' }),
    ({ code, stdout, stderr }: { code: number; stdout: string; stderr: string }) => ({
      code,
      out: stdout,
      err: stderr,
    }),
  )

test('a cluster in the background is ready when the command returns, and ends with coxswain down', async () => {
  const folder = await newFolder()
  const data = join(folder, 'data')
  const kubeconfig = join(folder, 'kubeconfig')
  const place = ['--data-dir', data]
  const flags = ['--port', '0', '--runtime', 'simulated', '--kubeconfig', kubeconfig, ...place]
  try {
    const started = await run('up', '--detach', ...flags)
    match(
      started.out,
      /^ready in \d+ ms at https:.*\n\n {2}nodes +1 simulated[^]*\n {2}Next:\n {4}export KUBECONFIG=\S+kubeconfig\n[^]*\n\nIt runs in the background as process \d+; its output is in .*up\.log\./,
    )
    const [kubectl] = kubectls()
    if (kubectl === undefined) throw new Error('kubectls() fails without one')
    equal((await runKubectl(kubectl, kubeconfig, ['get', 'namespaces'])).code, 0)
    equal((await run('status', ...place)).code, 0)

    const second = await run('up', '--detach', ...flags)
    equal(second.code, 1)
    match(second.err, /^coxswain up: it has ended before it was ready: [^]*is in use by process \d+/)

    const [, pid] = /process (\d+)/.exec(started.out) ?? []
    equal((await run('down', ...place)).out, `Process ${pid} has ended.\n`)
    equal((await run('status', ...place)).code, 3)
    equal((await run('down', ...place)).out, `Nothing runs in ${data}.\n`)
    const waited = await run('up', '-dv', '--wait', '--nodes', '2', ...flags)
    match(waited.out, /^ready in [^]*\n\n2 nodes are ready after \d+\.\d s\nIt runs in the background as process/)
    const nodes = await runKubectl(kubectl, kubeconfig, ['get', 'nodes', '--no-headers'])
    match(nodes.out, /^node-0 +Ready .*\nnode-1 +Ready .*\n$/)
    match((await run('stop', ...place)).out, /^Process \d+ has ended\.\n$/)
    equal((await run('reset', '--yes', ...place)).code, 0)
    equal(existsSync(data), false)
  } finally {
    await run('down', ...place)
    await rm(folder, { recursive: true, force: true })
  }
})

test('named clusters run side by side, each with its own port, which it keeps', async () => {
  const home = await newFolder()
  const here = (...args: string[]) => runIn({ ...process.env, HOME: home, XDG_DATA_HOME: home }, ...args)
  const clusters = async () => {
    const { clusters: listed } = JSON.parse((await here('list', '-o', 'json')).out) as {
      readonly clusters: readonly { readonly name: string; readonly status: string; readonly server: string }[]
    }
    return listed
  }
  try {
    equal((await here('list')).out, 'There is no cluster. Start one: coxswain up\n')
    const early = await here('kubectl', '--name', 'dev', 'get', 'nodes')
    equal(early.code, 2)
    match(
      early.err,
      /there is no \S+\/coxswain-clusters\/dev\/admin\.kubeconfig\. Start the cluster: coxswain up --name dev\n$/,
    )
    for (const name of ['dev', 'stage']) {
      const started = await here('up', '--detach', '--wait', '--runtime', 'simulated', '--name', name)
      match(started.out, new RegExp(`status --name ${name} [^]*End it: coxswain down --name ${name}\n$`))
    }
    const before = await clusters()
    deepEqual(
      before.map(({ name, status }) => `${name} ${status}`),
      ['dev running', 'stage running'],
    )
    equal(new Set(before.map(({ server }) => server)).size, 2)

    equal((await here('kubectl', '--name=dev', 'create', 'namespace', 'only-dev')).out, 'namespace/only-dev created\n')
    const name = ['get', 'namespace', 'only-dev', '-o', 'name']
    equal((await here('kubectl', '--name', 'dev', '--', ...name)).out, 'namespace/only-dev\n')
    const other = await here('kubectl', '--name', 'stage', ...name)
    equal(other.code, 1)
    match(other.err, /namespaces "only-dev" not found/)
    equal((await here('kubectl', '--name', 'stage', 'config', 'current-context')).out, 'stage\n')
    match((await here('token', 'create', '--name', 'dev')).out, /^[a-z0-9]{6}\.[a-z0-9]{16}\n$/)
    equal((await here('token', 'list', '--name', 'dev')).out.trimEnd().split('\n').length, 2)
    equal((await here('token', 'list', '--name', 'stage')).out.trimEnd().split('\n').length, 1)

    match((await here('down', '--name', 'dev')).out, /^Process \d+ has ended\.\n$/)
    match((await here('list')).out, /^NAME +STATUS +SERVER +DATA DIRECTORY\ndev +stopped .*\nstage +running .*\n$/)
    await here('up', '--detach', '--runtime', 'simulated', '--name', 'dev')
    const servers = (await clusters()).map(({ server }) => server)
    deepEqual(
      servers,
      before.map(({ server }) => server),
    )
    match((await here('down', '--name', 'dev')).out, /^Process \d+ has ended\.\n$/)
    match((await here('reset', '--name', 'dev', '--yes')).out, /and so is the directory\.\n$/)
    equal((await here('list', '-o', 'name')).out, 'stage\n')
  } finally {
    for (const name of ['dev', 'stage']) await here('down', '--name', name)
    await rm(home, { recursive: true, force: true })
  }
})
