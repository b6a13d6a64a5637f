// Coverage of the unit tests by folder, from the files that Node.js writes with NODE_V8_COVERAGE: one per process and
// worker thread. A place in the source is covered if one process executed it. Each folder has a floor for lines and for
// branches in coverage-floors.json; floors are raised, never lowered.
import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { parseSync, Visitor } from 'oxc-parser'

const root = fileURLToPath(new URL('..', import.meta.url))
const floorsPath = join(root, 'scripts/coverage-floors.json')
/** Files that declare tests, and programs that are tested as processes. */
const isMeasured = (path) => !/\.(test|harness|suite)\.ts$|\/main\.ts$/.test(path)

const statements = [
  'BreakStatement',
  'ContinueStatement',
  'DoWhileStatement',
  'ExpressionStatement',
  'ForInStatement',
  'ForOfStatement',
  'ForStatement',
  'IfStatement',
  'ReturnStatement',
  'SwitchStatement',
  'ThrowStatement',
  'TryStatement',
  'VariableDeclaration',
  'WhileStatement',
]

/** Offsets of the first statement of each line, and of the arms of each branch that contain code. */
export function measuredPlaces(path, text) {
  const { program, errors } = parseSync(path, text)
  if (errors.length > 0) throw new Error(`${path}: ${errors[0].message}`)
  const lineStarts = [...text.matchAll(/\n/g)].map(({ index }) => index + 1)
  const lineOf = (offset) => {
    let low = 0
    let high = lineStarts.length
    while (low < high) {
      const middle = (low + high) >> 1
      if (lineStarts[middle] <= offset) low = middle + 1
      else high = middle
    }
    return low
  }
  const lines = new Map()
  const addLine = ({ start }) => {
    const line = lineOf(start)
    if (!(lines.get(line) <= start)) lines.set(line, start)
  }
  const branches = []
  const addArm = (node) => node && branches.push(node.start)
  new Visitor({
    ...Object.fromEntries(statements.map((type) => [type, (node) => node.declare || addLine(node)])),
    ArrowFunctionExpression: ({ body }) => body.type === 'BlockStatement' || addLine(body),
    ConditionalExpression: ({ consequent, alternate }) => [consequent, alternate].forEach(addArm),
    'IfStatement:exit': ({ consequent, alternate }) => [consequent, alternate].forEach(addArm),
    LogicalExpression: ({ right }) => addArm(right),
    SwitchCase: ({ consequent: [first] }) => addArm(first),
  }).visit(program)
  return { lines: [...lines.values()], branches }
}

/** Marks the characters of a script that a process executed: the innermost range around a character decides. */
export function markExecuted(executed, functions) {
  const ranges = functions.flatMap((each) => each.ranges)
  // Ranges are nested or disjoint, so outer ranges come first and inner ones overwrite them.
  ranges.sort((a, b) => a.startOffset - b.startOffset || b.endOffset - a.endOffset)
  const own = new Uint8Array(executed.length)
  for (const { startOffset, endOffset, count } of ranges) own.fill(count > 0 ? 1 : 0, startOffset, endOffset)
  for (let at = 0; at < own.length; at++) executed[at] |= own[at]
}

/** Covered and total lines and branches of each folder: the files directly in it. */
export function folderCoverage(coverageDirectory) {
  const texts = new Map(
    globSync('src/**/*.ts', { cwd: root })
      .filter(isMeasured)
      .map((path) => [path, readFileSync(join(root, path), 'utf8')]),
  )
  const urls = new Map([...texts.keys()].map((path) => [pathToFileURL(join(root, path)).href, path]))
  const executed = new Map([...texts].map(([path, text]) => [path, new Uint8Array(text.length)]))
  for (const name of globSync('*.json', { cwd: coverageDirectory })) {
    const { result } = JSON.parse(readFileSync(join(coverageDirectory, name), 'utf8'))
    for (const { url, functions } of result) {
      const path = urls.get(url)
      if (path !== undefined) markExecuted(executed.get(path), functions)
    }
  }
  const folders = new Map()
  for (const [path, text] of texts) {
    const folder = dirname(path)
    const total = folders.get(folder) ?? { lines: [0, 0], branches: [0, 0] }
    folders.set(folder, total)
    for (const [what, offsets] of Object.entries(measuredPlaces(path, text))) {
      total[what][0] += offsets.filter((offset) => executed.get(path)[offset] === 1).length
      total[what][1] += offsets.length
    }
  }
  return new Map([...folders].toSorted(([a], [b]) => (a < b ? -1 : 1)))
}

const percent = ([covered, all]) => (all === 0 ? 100 : (100 * covered) / all)

/** Folders below their floor or without one, and floors without a folder. */
export function coverageErrors(coverage, floors) {
  const errors = Object.keys(floors)
    .filter((folder) => !coverage.has(folder))
    .map((folder) => `${folder}: remove it from coverage-floors.json, the folder does not exist`)
  for (const [folder, total] of coverage) {
    const floor = floors[folder]
    if (floor === undefined) errors.push(`${folder}: add it to coverage-floors.json`)
    else
      for (const what of ['lines', 'branches'])
        if (percent(total[what]) < floor[what])
          errors.push(
            `${folder}: ${percent(total[what]).toFixed(2)} % of ${what} are covered by unit tests, the floor is ${floor[what]} %`,
          )
  }
  return errors
}

/** Tolerance: some branches are taken only on a slow or on a fast machine. */
const timingPercent = 1

/** The floors after a run: new folders get one, others are raised; no floor is lowered. */
export const raisedFloors = (coverage, floors) =>
  Object.fromEntries(
    [...coverage].map(([folder, total]) => {
      const floor = (what) => Math.max(floors[folder]?.[what] ?? 0, Math.floor(percent(total[what]) - timingPercent))
      return [folder, { lines: floor('lines'), branches: floor('branches') }]
    }),
  )

const floorsText = (floors) =>
  `{\n${Object.entries(floors)
    .map(([folder, { lines, branches }]) => `  "${folder}": { "lines": ${lines}, "branches": ${branches} }`)
    .join(',\n')}\n}\n`

/** Compares the coverage in a directory with the floors and prints the result; returns the exit code. */
export function checkCoverage(coverageDirectory, raises) {
  const coverage = folderCoverage(coverageDirectory)
  const floors = existsSync(floorsPath) ? JSON.parse(readFileSync(floorsPath, 'utf8')) : {}
  if (raises) writeFileSync(floorsPath, floorsText(raisedFloors(coverage, floors)))
  const errors = coverageErrors(coverage, raises ? JSON.parse(readFileSync(floorsPath, 'utf8')) : floors)
  const sum = (what) => [0, 1].map((at) => [...coverage.values()].reduce((total, each) => total + each[what][at], 0))
  console.log(
    `coverage of src by unit tests: ${percent(sum('lines')).toFixed(1)} % of lines, ${percent(sum('branches')).toFixed(1)} % of branches in ${coverage.size} folders`,
  )
  for (const error of errors) console.error(error)
  return errors.length === 0 ? 0 : 1
}
