// The files of servers in a data directory: only files of servers are written, and only those that differ.
import { deepEqual, equal, rejects } from 'node:assert/strict'
import { mkdir, mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { readServerFile, replaceServerFiles } from './server-files.ts'

test('files that differ are replaced, readable by their owner only', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'coxswain-files-'))
  const pki = join(directory, 'pki')
  await mkdir(pki)
  await writeFile(join(pki, 'ca.crt'), 'same')
  await writeFile(join(pki, 'sa.key'), 'old')
  const longAgo = new Date(0)
  await utimes(join(pki, 'ca.crt'), longAgo, longAgo)
  await replaceServerFiles(directory, { 'ca.crt': 'same', 'sa.key': 'new', 'ca.key': 'first' })
  deepEqual(await Promise.all(['ca.crt', 'sa.key', 'ca.key'].map((name) => readServerFile(directory, name))), [
    'same',
    'new',
    'first',
  ])
  equal((await stat(join(pki, 'ca.crt'))).mtimeMs, 0, 'it was not written')
  equal((await stat(join(pki, 'ca.key'))).mode & 0o777, 0o600)
  await rejects(readServerFile(directory, 'front-proxy-ca.key'), /there is no file .*front-proxy-ca\.key/)
  await rm(directory, { recursive: true })
})

for (const name of ['../coxswain.json', 'kubelet.key', ''])
  test(`${JSON.stringify(name)} is no file of a server, and nothing is written`, async () => {
    const directory = await mkdtemp(join(tmpdir(), 'coxswain-files-'))
    await mkdir(join(directory, 'pki'))
    await rejects(replaceServerFiles(directory, { 'sa.key': 'x', [name]: 'x' }), /is no file of a server/)
    deepEqual(await readdir(join(directory, 'pki')), [])
    await rejects(readFile(join(directory, 'coxswain.json')), /ENOENT/)
    await rm(directory, { recursive: true })
  })
