// list and kubectl: commands about clusters of this machine by name.
import { deepEqual, equal, match } from 'node:assert/strict'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { openDataDirectory } from '../../cluster/data-directory/open-directory.ts'
import { typed as typedIn } from './typed.harness.ts'

let home = ''
const pathOf = (name: string) => join(home, 'coxswain-clusters', name)

const typed = (...argv: string[]) =>
  typedIn(argv, { XDG_DATA_HOME: home, PATH: `${join(home, 'bin')}:${process.env['PATH']}` })

before(async () => {
  home = await mkdtemp(join(tmpdir(), 'coxswain-named-'))
  const directory = await openDataDirectory(pathOf('dev'), 'cluster')
  await directory.note({ name: 'dev' })
  await directory[Symbol.asyncDispose]()
  const kubeconfig = `current-context: dev
contexts: [{ name: dev, context: { cluster: dev } }]
clusters: [{ name: dev, cluster: { server: 'https://127.0.0.1:7443' } }]
`
  await writeFile(join(pathOf('dev'), 'admin.kubeconfig'), kubeconfig)
  await mkdir(join(home, 'bin'))
  const script = `#!/bin/sh
echo "$KUBECONFIG $*" > ${home}/called
[ "$1" = fail ] && exit 3
[ "$1" = end ] && kill -TERM $$
exit 0
`
  await writeFile(join(home, 'bin', 'kubectl'), script, { mode: 0o755 })
})
after(() => rm(home, { recursive: true }))

test('clusters are listed as a table, as names and as JSON', async () => {
  match(
    (await typed('list')).printed,
    /^NAME +STATUS +SERVER +DATA DIRECTORY\ndev +stopped +https:\/\/127\.0\.0\.1:7443 +\/.*\/coxswain-clusters\/dev\n$/,
  )
  equal((await typed('ls', '-o', 'name')).printed, 'dev\n')
  deepEqual(JSON.parse((await typed('list', '-o', 'json')).printed), {
    clusters: [
      {
        name: 'dev',
        status: 'stopped',
        server: 'https://127.0.0.1:7443',
        dataDirectory: pathOf('dev'),
        kubeconfig: `${pathOf('dev')}/admin.kubeconfig`,
      },
    ],
  })
  const { code, complained } = await typed('list', '-o', 'yaml')
  deepEqual([code, complained], [2, 'coxswain list: --output "yaml" is none of json, name\n'])
})

const codes: [args: string[], code: number][] = [
  [['get', 'pods', '-n', 'a b'], 0],
  [['fail', '--name', 'other'], 3],
  [['end'], 143],
]
for (const [args, code] of codes)
  test(`kubectl ${args.join(' ')} has the kubeconfig of the cluster; its exit code is ${code}`, async () => {
    equal((await typed('kubectl', '--name', 'dev', ...args)).code, code)
    equal(await readFile(join(home, 'called'), 'utf8'), `${pathOf('dev')}/admin.kubeconfig ${args.join(' ')}\n`)
  })

test('kubectl of a cluster that has not been started', async () => {
  const { code, complained } = await typed('kubectl', 'get', 'pods')
  equal(code, 2)
  equal(complained, `coxswain kubectl: there is no ${home}/coxswain/admin.kubeconfig. Start the cluster: coxswain up\n`)
})
