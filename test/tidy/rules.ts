// The tidy rules: pure functions from the parsed tree to the violations in it.
import { patternCost } from './pattern-cost.ts'
import { nodeModulesAllowed, reachable, unitLists } from './tree.ts'
import type { SourceFile } from './source-file.ts'

/** `path:line what is wrong`; empty when the tree is tidy. */
export type Rule = (files: readonly SourceFile[]) => string[]

const isTest = (path: string) => /\.(test|suite|harness)\.ts$/.test(path)
const folderOf = (path: string) => /^src\/([^/]+)\//.exec(path)?.[1]

export const importsFollowTheTree: Rule = (files) =>
  files.flatMap((file) => {
    const folder = folderOf(file.path)
    if (folder === undefined || isTest(file.path)) return []
    const allowed = reachable(folder)
    return file.imports
      .filter(({ target }) => target.startsWith('src/') && !allowed.has(folderOf(target) ?? ''))
      .map(({ target, line }) => `${file.path}:${line} ${folder}/ may not import ${target}`)
  })

export const onlyDriversImportNode: Rule = (files) =>
  files.flatMap((file) =>
    !file.path.startsWith('src/') || isTest(file.path) || nodeModulesAllowed.test(file.path)
      ? []
      : file.imports
          .filter(({ target }) => target.startsWith('node:'))
          .map(
            ({ target, line }) => `${file.path}:${line} imports ${target}; only platform, drivers, cluster and cli may`,
          ),
  )

export const noImportCycles: Rule = (files) => {
  const byPath = new Map(files.map((file) => [file.path, file]))
  const state = new Map<string, 'open' | 'done'>()
  const cycles: string[] = []
  const visit = (path: string, trail: readonly string[]) => {
    if (state.get(path) === 'done') return
    if (state.get(path) === 'open') {
      cycles.push(`import cycle: ${[...trail.slice(trail.indexOf(path)), path].join(' → ')}`)
      return
    }
    state.set(path, 'open')
    for (const { target } of byPath.get(path)?.imports ?? []) if (byPath.has(target)) visit(target, [...trail, path])
    state.set(path, 'done')
  }
  for (const { path } of files) visit(path, [])
  return cycles
}

const bannedCalls = new Set([
  'Date.now',
  'new Date/0',
  'performance.now',
  'process.hrtime',
  'process.hrtime.bigint',
  'setTimeout',
  'setInterval',
  'setImmediate',
  'AbortSignal.timeout',
  'Math.random',
  'crypto.randomUUID',
  'crypto.getRandomValues',
  'crypto.randomBytes',
  'randomUUID',
  'randomBytes',
])

export const timeAndChanceComeFromBase: Rule = (files) =>
  files.flatMap((file) =>
    file.path.startsWith('src/base/') || file.path.startsWith('bench/')
      ? []
      : file.calls
          .map((call) => ({ ...call, name: call.name.replace(/^(globalThis|window)\./, '') }))
          .filter(({ name, argumentCount }) => bannedCalls.has(name) || bannedCalls.has(`${name}/${argumentCount}`))
          .map(({ name, line }) => `${file.path}:${line} calls ${name}; time and chance come from base/`),
  )

/**
 * A regular expression that takes more than linear time lets a client stop the event loop. A comment `linear: reason`
 * exempts a pattern that sees short or trusted text only. Patterns made when a module is loaded are checked by loading it.
 */
export const patternsAreLinear: Rule = (files) =>
  files.flatMap((file) =>
    !file.path.startsWith('src/') || isTest(file.path)
      ? []
      : file.patterns.flatMap(({ literal, atLoad, reason, line }) => {
          if (reason !== undefined) return []
          if (literal === undefined) return atLoad ? [] : [`${file.path}:${line} makes a pattern at run time`]
          const cost = patternCost(literal.pattern, literal.flags)
          return cost === undefined ? [] : [`${file.path}:${line} /${literal.pattern}/${literal.flags} ${cost}`]
        }),
  )

const foldersOfClientInput = new Set(['api', 'apiserver', 'cel', 'schema'])

/** The number of items depends on the client, and the stack has room for some hundred thousand arguments. */
export const noSpreadIntoPush: Rule = (files) =>
  files.flatMap((file) =>
    !foldersOfClientInput.has(folderOf(file.path) ?? '') || isTest(file.path)
      ? []
      : file.calls
          .filter(({ name, isSpread }) => isSpread && name.endsWith('.push'))
          .map(({ line }) => `${file.path}:${line} spreads a list into push; use append of base/append.ts`),
  )

const runners = new Set(['test', 'it', 'suite', 'describe'])
const silencers = new Set(['skip', 'only', 'todo'])

export const noSkippedOrFocusedTests: Rule = (files) =>
  files.flatMap((file) =>
    file.calls
      .filter(({ name, optionKeys }) => {
        const [runner = '', method = ''] = name.split('.')
        const byMethod = (runners.has(runner) || ['t', 'context'].includes(runner)) && silencers.has(method)
        return byMethod || (runners.has(runner) && optionKeys.some((key) => silencers.has(key)))
      })
      .map(({ name, line }) => `${file.path}:${line} ${name} skips or focuses a test`),
  )

export const unitsAreListed: Rule = (files) => {
  const byPath = new Map(files.map((file) => [file.path, file]))
  return files.flatMap((file) =>
    isTest(file.path) || !file.path.startsWith('src/')
      ? []
      : file.calls.flatMap(({ name, line }) => {
          const list = Object.hasOwn(unitLists, name) ? unitLists[name] : undefined
          if (list === undefined || file.path === list) return []
          const listed = byPath.get(list)?.imports.some(({ target }) => target === file.path)
          return listed ? [] : [`${file.path}:${line} ${name}: the unit is missing in ${list}`]
        }),
  )
}

export const rules: Readonly<Record<string, Rule>> = {
  importsFollowTheTree,
  noImportCycles,
  noSkippedOrFocusedTests,
  noSpreadIntoPush,
  onlyDriversImportNode,
  patternsAreLinear,
  timeAndChanceComeFromBase,
  unitsAreListed,
}
