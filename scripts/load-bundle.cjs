// Loads the command line from its bundle, with the code that V8 compiled in an earlier process. Node.js's compile cache holds
// what is compiled before a module runs; this one also holds the functions that a start calls, which takes a tenth less
// time. It is stored in the directory of Node.js's compile cache, whose name contains the version, V8's flags and the user.
const { hash } = require('node:crypto')
const { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } = require('node:fs')
const { enableCompileCache, getCompileCacheDir } = require('node:module')
const { join } = require('node:path')
const { isSea } = require('node:sea')
const { constants, Script } = require('node:vm')

/** A server is ready by then, and V8 has not discarded the code of its start yet. */
const saveMs = 2_000
const digestBytes = 32

// Stored code is executed, so others must not be able to write it; Node.js's default is a directory in /tmp. No effect
// where NODE_COMPILE_CACHE names a directory.
const { HOME, XDG_CACHE_HOME } = process.env
const caches = XDG_CACHE_HOME || (HOME && join(HOME, '.cache'))
if (caches) enableCompileCache(join(caches, 'coxswain'))
const cacheDirectory = getCompileCacheDir()
const prefix = `coxswain-${hash('sha256', isSea() ? process.execPath : __dirname).slice(0, 16)}-`

/** The modules that were loaded, by file name. */
const modules = new Map()
/** The scripts without stored code. */
const compiled = []

const digest = (data) => hash('sha256', data, 'buffer')
/** V8 compares the length of the source and the flags only. */
const headOf = (source, code) => digest(Buffer.concat([digest(source), digest(code)]))

/** The stored code of this source; undefined where there is none, or where the file is damaged. */
function storedCode(file, source) {
  if (cacheDirectory === undefined) return undefined
  try {
    const bytes = readFileSync(join(cacheDirectory, prefix + file))
    const [head, code] = [bytes.subarray(0, digestBytes), bytes.subarray(digestBytes)]
    return head.equals(headOf(source, code)) ? code : undefined
  } catch {
    return undefined
  }
}

function load(file) {
  const known = modules.get(file)
  if (known !== undefined) return known.exports
  const filename = join(__dirname, file)
  const source = readFileSync(filename, 'latin1') // the bundle is ASCII
  const cachedData = storedCode(file, source)
  const script = new Script(`(function (exports, require, module, __filename, __dirname) {${source}\n})`, {
    filename,
    cachedData,
    importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
  })
  if (cachedData === undefined || script.cachedDataRejected) compiled.push({ file, source, script })
  const module = { exports: {} }
  modules.set(file, module)
  const requireFrom = (name) => (name.startsWith('./') ? load(name.slice(2)) : require(name))
  script.runInThisContext()(module.exports, requireFrom, module, filename, __dirname)
  return module.exports
}

/** Stores the code of what was compiled, and removes that of an older bundle in this directory. */
function save() {
  if (cacheDirectory === undefined || compiled.length === 0) return
  try {
    mkdirSync(cacheDirectory, { recursive: true })
    for (const { file, source, script } of compiled.splice(0)) {
      const code = script.createCachedData()
      const path = join(cacheDirectory, prefix + file)
      writeFileSync(`${path}.${process.pid}`, Buffer.concat([headOf(source, code), code]))
      renameSync(`${path}.${process.pid}`, path)
    }
    const bundled = new Set(readdirSync(__dirname).map((file) => prefix + file))
    for (const name of readdirSync(cacheDirectory))
      if (name.startsWith(prefix) && !bundled.has(name)) rmSync(join(cacheDirectory, name), { force: true })
  } catch {
    // Without stored code the next start takes longer.
  }
}

setTimeout(save, saveMs).unref()
process.once('exit', save)
load('cli.cjs')
