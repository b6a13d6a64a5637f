// Makes what a release has for this machine's architecture: `node scripts/executable-archive.mjs <folder>` writes an archive
// with the executable and the licenses of what is in it, and its software bill of materials.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { tar } from '../src/wire/oci/tar.ts'
import { makeExecutable } from './executable.mjs'
import { executableFiles } from './executable-files.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))

export async function makeArchive(folder) {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const { archive, bill } = executableFiles(version, process.arch)
  const work = mkdtempSync(join(tmpdir(), 'coxswain-archive-'))
  try {
    const executable = join(work, 'coxswain')
    const made = await makeExecutable(executable)
    const entries = [
      { path: 'LICENSE', content: readFileSync(join(root, 'LICENSE')) },
      { path: 'coxswain', mode: 0o755, content: readFileSync(executable) },
      ...['kubectl-coxswain', 'kubectl-flow', 'kubectl-why'].map((path) => ({ path, link: 'coxswain' })),
      { path: 'third-party-licenses.txt', content: Buffer.from(made.licenses) },
    ]
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, archive), gzipSync(tar(entries)))
    writeFileSync(join(folder, bill), `${JSON.stringify(made.bill, undefined, 2)}\n`)
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [, , folder] = process.argv
  if (folder === undefined) {
    console.error('usage: node scripts/executable-archive.mjs <folder>')
    process.exitCode = 2
  } else await makeArchive(resolve(folder))
}
