import { equal, throws } from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, suite, test } from 'node:test'
import { architecture } from '../containers/busybox.ts'
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

  test('without them the error says where to get them', () => {
    throws(() => findExecutables(join(folder, 'absent'), cache), /absent has no executables\.\n.*--suite <folder>/)
  })
})
