// Prepares a fresh clone for `npm start`, `npm test` or `npm pack`, and is quick when nothing is missing. Plain JavaScript for any
// Node.js from 18 on: it runs before the pinned Node.js and the packages are installed.
import { spawnSync } from 'node:child_process'
import { existsSync, statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { fetchEtcds, hasFetchedEtcd } from './etcd.mjs'
import { fetchOldestNode, oldestNode } from './oldest-node.mjs'
import { findKubectls, fetchKubectls, hasFetchedKubectl } from './kubectl.mjs'
import { installMissing } from './system-packages.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const purpose = ['test', 'build'].find((name) => process.argv.includes(`--for=${name}`)) ?? 'start'
const inCi = process.env.CI === 'true'
const log = (line) => console.log(`setup: ${line}`)

function packagesAreCurrent() {
  const installed = `${root}node_modules/.package-lock.json`
  return existsSync(installed) && statSync(installed).mtimeMs >= statSync(`${root}package-lock.json`).mtimeMs
}

function installPackages() {
  log('installing npm packages (once)')
  const { status } = spawnSync('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: root,
    stdio: 'inherit',
    shell: false,
  })
  if (status !== 0) {
    log('npm ci failed; see its message above. Without the packages nothing can run.')
    process.exit(1)
  }
}

function checkNode() {
  const pinned = `${root}node_modules/.bin/node`
  const command = existsSync(pinned) ? pinned : process.execPath
  const version = spawnSync(command, ['--version'], { encoding: 'utf8' }).stdout?.trim() ?? 'unknown'
  const major = Number(version.slice(1).split('.')[0])
  if (major >= 24) return
  log(`Node.js ${version} is too old (24 is needed) and none is pinned for ${process.platform}-${process.arch}.`)
  log('Install Node.js 24 or newer and run the command again.')
  process.exit(1)
}

/** Bundles the command line, because a start from the sources loads hundreds of files. */
function bundleCommandLine() {
  const bundle = `${root}.cache/bundle`
  const stale = spawnSync('find', [`${root}src`, '-newer', `${bundle}/coxswain.cjs`, '-print', '-quit'], {
    encoding: 'utf8',
  })
  if (stale.status === 0 && stale.stdout === '') return
  const pinned = `${root}node_modules/.bin/node`
  const command = existsSync(pinned) ? pinned : process.execPath
  const { status, stderr } = spawnSync(command, [`${root}scripts/bundle.mjs`, bundle], { encoding: 'utf8' })
  if (status !== 0) log(`no bundle, so each start loads the sources: ${stderr.trim().split('\n').at(-1)}`)
}

/** A start needs any kubectl; the tests need the one of the version that is implemented, whatever the machine has. */
function provideKubectl() {
  if (purpose === 'test' ? hasFetchedKubectl(root) : findKubectls(root).length > 0) return
  const reason = fetchKubectls(root, log)
  if (purpose === 'test' ? hasFetchedKubectl(root) : findKubectls(root).length > 0) return
  log(`no kubectl: ${reason}`)
  if (purpose === 'test' && inCi) {
    log('in CI a missing component fails the run.')
    process.exit(1)
  }
  log(
    purpose === 'test'
      ? 'the tests that drive the real kubectl will fail with a message.'
      : 'Coxswain starts all the same; install kubectl 1.27 or newer to talk to it.',
  )
}

function provideSystemPackages() {
  for (const { package: command, why } of installMissing(log)) {
    log(`${command} could not be installed: ${why}`)
    if (inCi) {
      log('in CI a missing component fails the run.')
      process.exit(1)
    }
    log('the tests that need it will fail with a message.')
  }
}

/** The system's etcd is old; the tests also run on a newer one. */
function provideNewerEtcd() {
  if (hasFetchedEtcd(root)) return
  const reason = fetchEtcds(root, log)
  if (hasFetchedEtcd(root)) return
  log(`no newer etcd: ${reason}`)
  if (inCi) {
    log('in CI a missing component fails the run.')
    process.exit(1)
  }
  log("the store's tests run on the system's own etcd alone.")
}

/** The package supports Node.js 24; the checkout itself runs on a newer one. */
function provideOldestNode() {
  if (existsSync(oldestNode(root))) return
  const reason = fetchOldestNode(root, log)
  if (reason === undefined) return
  log(`no Node.js 24: ${reason}`)
  if (inCi) {
    log('in CI a missing component fails the run.')
    process.exit(1)
  }
  log('the test of the package will fail with a message.')
}

if (!packagesAreCurrent()) installPackages()
checkNode()
// A build needs the packages only.
if (purpose !== 'build') {
  bundleCommandLine()
  provideKubectl()
}
if (purpose === 'test') {
  provideSystemPackages()
  provideNewerEtcd()
  provideOldestNode()
}
