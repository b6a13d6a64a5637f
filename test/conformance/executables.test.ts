import { equal, throws } from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, suite, test } from 'node:test'
import { architecture } from '../containers/busybox.ts'
import { upstreamExecutable, upstreamFolder } from '../upstream-executables.ts'
import { findExecutables } from './executables.ts'

const names = ['e2e.test', 'ginkgo', 'agnhost']

suite("the suite's executables", () => {
  const folder = mkdtempSync(join(tmpdir(), 'coxswain-suite-'))
  after(() => rmSync(folder, { recursive: true }))
  const cache = join(folder, 'cache')

  test('a folder that has them is used as it is', () => {
    const plain = join(folder, 'plain')
    mkdirSync(plain)
    for (const name of names) writeFileSync(join(plain, name), '')
    equal(findExecutables(plain, cache), plain)
  })

  test('compressed ones are unpacked for this architecture', () => {
    const packed = join(folder, 'packed', architecture)
    mkdirSync(packed, { recursive: true })
    for (const name of names) {
      writeFileSync(join(packed, name), `program ${name}`)
      execFileSync('xz', [join(packed, name)])
    }
    equal(findExecutables(join(folder, 'packed'), cache), cache)
    equal(readFileSync(join(cache, 'ginkgo'), 'utf8'), 'program ginkgo')
    equal(statSync(join(cache, 'ginkgo')).mode & 0o111, 0o111)
  })

  test('the folder is that of COXSWAIN_SUITE, or one in the caches of the user', () => {
    equal(upstreamFolder({ COXSWAIN_SUITE: '/suite' }, '/home/a'), '/suite')
    equal(upstreamFolder({ COXSWAIN_SUITE: '' }, '/home/a'), '/home/a/.cache/coxswain/suite')
    equal(upstreamFolder({}, '/home/a'), '/home/a/.cache/coxswain/suite')
  })

  test('a single executable is used as it is, unpacked, or absent', () => {
    const one = join(folder, 'one')
    mkdirSync(join(one, architecture), { recursive: true })
    writeFileSync(join(one, 'etcd'), '')
    writeFileSync(join(one, architecture, 'kube-apiserver'), 'server')
    execFileSync('xz', [join(one, architecture, 'kube-apiserver')])
    equal(upstreamExecutable(one, 'etcd', cache), join(one, 'etcd'))
    equal(upstreamExecutable(one, 'kube-apiserver', cache), join(cache, 'kube-apiserver'))
    equal(readFileSync(join(cache, 'kube-apiserver'), 'utf8'), 'server')
    equal(upstreamExecutable(one, 'kube-scheduler', cache), undefined)
  })

  test('without them the error says where to get them', () => {
    throws(() => findExecutables(join(folder, 'absent'), cache), /absent has no executables\.\n.*--suite <folder>/)
  })
})
