import { equal, throws } from 'node:assert/strict'
import { test } from 'node:test'
import { clusterFlag, clusterFlagOfDirectory, dataDirectoryOf, type ClusterChoice } from './data-directory-option.ts'

const home = { HOME: '/home/ann' }

const rows: [choice: ClusterChoice, directory: string, flag: string][] = [
  [{}, '/home/ann/.local/share/coxswain', ''],
  [{ name: 'coxswain' }, '/home/ann/.local/share/coxswain', ''],
  [{ name: 'dev' }, '/home/ann/.local/share/coxswain-clusters/dev', ' --name dev'],
  [{ 'data-dir': '/data' }, '/data', ' --data-dir /data'],
  [{ 'data-dir': '/data', name: 'dev' }, '/data', ' --data-dir /data'],
]
for (const [choice, directory, flag] of rows)
  test(`the cluster of ${JSON.stringify(choice)} is in ${directory}`, () => {
    equal(dataDirectoryOf(choice, home), directory)
    equal(clusterFlag(choice), flag)
    equal(clusterFlagOfDirectory(directory, home), flag)
  })

test('XDG_DATA_HOME moves named clusters, too', () =>
  equal(dataDirectoryOf({ name: 'dev' }, { ...home, XDG_DATA_HOME: '/xdg' }), '/xdg/coxswain-clusters/dev'))

test('an empty XDG_DATA_HOME is none', () =>
  equal(dataDirectoryOf({}, { ...home, XDG_DATA_HOME: '' }), '/home/ann/.local/share/coxswain'))

for (const name of ['', '..', 'a/b', 'Dev', '-a', 'a'.repeat(64)])
  test(`a cluster cannot have the name ${JSON.stringify(name)}`, () =>
    throws(() => dataDirectoryOf({ name }, home), { name: 'UsageError', message: /^--name ".*" must consist of/ }))
