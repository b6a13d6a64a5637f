// The loader of the bundle: it stores the code that V8 compiles, and uses it only for the same source.
import { deepEqual, equal, notDeepEqual, ok } from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

const loader = fileURLToPath(new URL('../../scripts/load-bundle.cjs', import.meta.url))

class Bundle implements Disposable {
  readonly directory = mkdtempSync(join(tmpdir(), 'bundle-'))
  readonly cache = join(this.directory, 'cache')

  constructor() {
    copyFileSync(loader, join(this.directory, 'load-bundle.cjs'))
    this.write('cli.cjs', `console.log(require('./part-1.cjs').word(), require('node:path').basename(__filename))`)
    this.write('part-1.cjs', `exports.word = () => 'one'`)
  }

  write(file: string, source: string): void {
    writeFileSync(join(this.directory, file), source)
  }

  /** What the program prints. */
  run(env: Readonly<Record<string, string>> = { NODE_COMPILE_CACHE: this.cache }): string {
    const program = join(this.directory, 'load-bundle.cjs')
    const { stdout, stderr, status } = spawnSync(process.execPath, [program], { encoding: 'utf8', env })
    equal(status, 0, stderr)
    return stdout.trim()
  }

  /** When the code of each file was stored, by the name of the file. */
  stored(below = this.cache): Readonly<Record<string, bigint>> {
    const paths = readdirSync(below, { recursive: true, encoding: 'utf8' }).filter((path) => /coxswain-/.test(path))
    return Object.fromEntries(
      paths
        .toSorted()
        .map((path) => [path.replace(/.*coxswain-\w+-/, ''), statSync(join(below, path), { bigint: true }).mtimeNs]),
    )
  }

  pathOf(file: string): string {
    const [version = ''] = readdirSync(this.cache)
    const directory = join(this.cache, version)
    return join(directory, readdirSync(directory).find((name) => name.endsWith(`-${file}`)) ?? '')
  }

  [Symbol.dispose](): void {
    rmSync(this.directory, { recursive: true })
  }
}

test('the code of a run is stored and used by the next one', () => {
  using bundle = new Bundle()
  equal(bundle.run(), 'one cli.cjs')
  const stored = bundle.stored()
  deepEqual(Object.keys(stored), ['cli.cjs', 'part-1.cjs'])
  equal(bundle.run(), 'one cli.cjs')
  deepEqual(bundle.stored(), stored, 'code that was used is not stored again')
})

test('another source of the same length is compiled again', () => {
  using bundle = new Bundle()
  bundle.run()
  const stored = bundle.stored()
  bundle.write('part-1.cjs', `exports.word = () => 'two'`)
  equal(bundle.run(), 'two cli.cjs')
  notDeepEqual(bundle.stored()['part-1.cjs'], stored['part-1.cjs'])
  equal(bundle.stored()['cli.cjs'], stored['cli.cjs'])
})

const damages: [name: string, damage: (bytes: Uint8Array) => Uint8Array][] = [
  ['a flipped bit', (bytes) => bytes.map((byte, index) => (index === bytes.length - 9 ? byte ^ 1 : byte))],
  ['a missing end', (bytes) => bytes.subarray(0, -10)],
  ['nothing in it', () => new Uint8Array()],
]
for (const [name, damage] of damages)
  test(`stored code with ${name} is replaced`, () => {
    using bundle = new Bundle()
    bundle.run()
    const path = bundle.pathOf('cli.cjs')
    const intact = readFileSync(path)
    writeFileSync(path, damage(intact))
    equal(bundle.run(), 'one cli.cjs')
    equal(readFileSync(path).length, intact.length)
    const stored = bundle.stored()
    bundle.run()
    deepEqual(bundle.stored(), stored)
  })

test('the code of chunks that the bundle no longer has is removed', () => {
  using bundle = new Bundle()
  bundle.run()
  rmSync(join(bundle.directory, 'part-1.cjs'))
  bundle.write('part-2.cjs', `exports.word = () => 'three'`)
  bundle.write('cli.cjs', `console.log(require('./part-2.cjs').word())`)
  equal(bundle.run(), 'three')
  deepEqual(Object.keys(bundle.stored()), ['cli.cjs', 'part-2.cjs'])
})

test('the code is stored in the cache directory of the user; without one it is not stored', () => {
  using bundle = new Bundle()
  const home = join(bundle.directory, 'home')
  mkdirSync(home)
  bundle.run({ HOME: home, XDG_CACHE_HOME: join(home, 'xdg') })
  deepEqual(Object.keys(bundle.stored(join(home, 'xdg', 'coxswain'))), ['cli.cjs', 'part-1.cjs'])
  bundle.run({ HOME: home })
  ok('cli.cjs' in bundle.stored(join(home, '.cache', 'coxswain')))
  equal(bundle.run({}), 'one cli.cjs')
  equal(bundle.run({ HOME: loader }), 'one cli.cjs')
})
