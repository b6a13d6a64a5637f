// The scripts of package.json on a clone without packages and a machine whose own Node.js is too old to run TypeScript: the
// setup makes the pinned one, and everything after it runs on that one.
import { deepEqual, equal } from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { suite, test } from 'node:test'
import { fileURLToPath } from 'node:url'

const packageFile = fileURLToPath(new URL('../../package.json', import.meta.url))
const { scripts } = JSON.parse(readFileSync(packageFile, 'utf8')) as { scripts: Readonly<Record<string, string>> }

/** A clone whose programs print their names and arguments instead of running. */
class FreshClone implements Disposable {
  readonly folder = mkdtempSync(join(tmpdir(), 'coxswain-clone-'))
  readonly environment: NodeJS.ProcessEnv

  constructor() {
    const installed = `printf '#!/bin/sh\\necho pinned "$@"\\n' >node_modules/.bin/node; chmod +x node_modules/.bin/node`
    this.#program('machine/node', `echo old "$@"; ${installed}`)
    this.#program('machine/npm', 'echo npm "$@"')
    this.#program('bin/coxswain', 'echo coxswain "$@" "$$"; exec sleep 1000')
    mkdirSync(join(this.folder, 'node_modules', '.bin'), { recursive: true })
    // As npm sets it for a script.
    const path = `${this.folder}/node_modules/.bin:${this.folder}/machine:${process.env['PATH']}`
    this.environment = { ...process.env, PATH: path }
  }

  #program(path: string, text: string): void {
    const file = join(this.folder, path)
    mkdirSync(join(file, '..'), { recursive: true })
    writeFileSync(file, `#!/bin/sh\n${text}\n`)
    chmodSync(file, 0o755)
  }

  [Symbol.dispose](): void {
    rmSync(this.folder, { recursive: true })
  }
}

suite('the scripts of a fresh clone', () => {
  for (const [name, lines] of [
    ['conformance', ['old scripts/setup.mjs --for=test', 'pinned test/conformance/run.ts']],
    [
      'bench',
      [
        'old scripts/setup.mjs --for=start',
        'pinned --max-semi-space-size=16 --no-allocation-site-pretenuring --expose-gc bench/run.ts',
      ],
    ],
    // npm runs it before it packs.
    [
      'prepack',
      [
        'old scripts/setup.mjs --for=build',
        'npm run build',
        'pinned scripts/package-modes.mjs',
        'pinned scripts/package-fields.mjs publish',
      ],
    ],
  ] as const)
    test(`npm run ${name} installs what is missing, then runs`, () => {
      using clone = new FreshClone()
      const { folder: cwd, environment: env } = clone
      const printed = execFileSync('sh', ['-c', scripts[name] ?? ''], { cwd, env, encoding: 'utf8' })
      deepEqual(printed.trim().split('\n'), lines)
    })

  test('npm start becomes the cluster, so that a signal to it ends the cluster', async () => {
    using clone = new FreshClone()
    const { folder: cwd, environment: env } = clone
    const shell = spawn('sh', ['-c', scripts['start'] ?? ''], { cwd, env, stdio: ['ignore', 'pipe', 'inherit'] })
    const ended = once(shell, 'close')
    for await (const line of createInterface(shell.stdout)) {
      if (!line.startsWith('coxswain')) continue
      equal(line, `coxswain up ${shell.pid}`)
      break
    }
    shell.kill()
    deepEqual(await ended, [null, 'SIGTERM'])
  })
})
