import { deepEqual, rejects } from 'node:assert/strict'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { leaveNamespaceRoot } from './node-namespace-root.ts'

const home = await mkdtemp(join(tmpdir(), 'cgroups-'))
after(() => rm(home, { recursive: true, force: true }))

/** A folder in which writing to a file does not move processes, so they stay in `cgroup.procs`. */
async function root(files: Readonly<Record<string, string>>): Promise<string> {
  const folder = await mkdtemp(join(home, 'root-'))
  for (const [name, content] of Object.entries(files)) await writeFile(join(folder, name), content)
  return folder
}

test('the root of the machine, and that of cgroup v1, are left as they are', async () => {
  const folder = await root({ 'cgroup.procs': '1\n' })
  await leaveNamespaceRoot(folder)
  deepEqual(await readdir(folder), ['cgroup.procs'])
  await leaveNamespaceRoot(join(home, 'missing'))
})

test('an empty root needs no other cgroup', async () => {
  const folder = await root({ 'cgroup.type': 'domain\n', 'cgroup.procs': '' })
  await leaveNamespaceRoot(folder)
  deepEqual((await readdir(folder)).toSorted(), ['cgroup.procs', 'cgroup.type'])
})

test('processes are moved into a cgroup below, in a bounded number of attempts', async () => {
  const folder = await root({ 'cgroup.type': 'domain\n', 'cgroup.procs': '1\n17\n' })
  await leaveNamespaceRoot(folder)
  deepEqual(await readFile(join(folder, 'init', 'cgroup.procs'), 'utf8'), '17')
})

test('a root without the list of its processes is an error', async () => {
  await rejects(leaveNamespaceRoot(await root({ 'cgroup.type': 'domain\n' })), { code: 'ENOENT' })
})
