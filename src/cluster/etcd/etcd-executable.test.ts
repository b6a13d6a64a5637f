import { deepEqual, rejects } from 'node:assert/strict'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { etcdCandidates, findEtcd } from './etcd-executable.ts'

const { signal } = new AbortController()

const printing = (outputs: Readonly<Record<string, string>>) => ({
  run: async (command: string) => ({ code: 0, stdout: outputs[command] ?? '', stderr: '' }),
})

test('the newest executable is used', async () => {
  const outputs = {
    '/a/etcd': 'etcd Version: 3.4.23\nGit SHA: x\n',
    '/b/etcd': 'etcd Version: 3.10.1\n',
    '/c/etcd': 'etcd Version: 3.5.16\n',
    '/d/etcd': 'something else\n',
  }
  deepEqual(await findEtcd(printing(outputs), signal, Object.keys(outputs)), { path: '/b/etcd', version: '3.10.1' })
})

test('without a usable executable the message says what to do', async () => {
  await rejects(findEtcd(printing({}), signal, []), /there is no etcd on the PATH; install etcd .* --store etcd=/)
  const old = { '/a/etcd': 'etcd Version: 3.3.25\n' }
  await rejects(findEtcd(printing(old), signal, ['/a/etcd']), /\/a\/etcd is etcd 3.3.25; 3.4 or newer is needed/)
})

test('executables are searched on the path and in the folder of the setup', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'coxswain-etcd-'))
  try {
    const files = ['bin/etcd', '.cache/etcd/3.5.16/etcd', '.cache/bundle/x/main.mjs']
    for (const file of files) {
      await mkdir(join(folder, file, '..'), { recursive: true })
      await writeFile(join(folder, file), '')
    }
    const path = [join(folder, 'bin'), join(folder, 'missing'), '', join(folder, 'bin')].join(':')
    deepEqual(etcdCandidates(path, join(folder, '.cache/bundle/x')), [
      join(folder, 'bin/etcd'),
      join(folder, '.cache/etcd/3.5.16/etcd'),
    ])
  } finally {
    await rm(folder, { recursive: true })
  }
})
