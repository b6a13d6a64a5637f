// Merges the declarations that the compiler emits, one file per module, into one file: the exports of the entry and
// their dependencies, each declaration once and under a unique name.
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { parseSync } from 'oxc-parser'

/**
 * `replaced(module, name)` names the declaration that replaces one of a module, `globals` those that replace global
 * ones, and `taken` are reserved names.
 */
export function rollUp({ folder, entry, replaced, globals, taken }) {
  const rolling = new Rolling(folder, replaced, globals, taken)
  const exported = rolling.exportsOf(join(folder, entry))
  for (const [name, place] of exported) rolling.name(place, name)
  for (const place of exported.values()) rolling.include(place)
  return rolling.text(new Set([...exported.values()].map(keyOf)))
}

const keyOf = ({ path, name }) => `${path}#${name}`

class Rolling {
  #folder
  #replaced
  #globals
  #modules = new Map()
  /** The final name of each declaration that is needed, by its key. */
  #names = new Map()
  #taken
  #pieces = new Map()

  constructor(folder, replaced, globals, taken) {
    this.#taken = new Set(taken)
    this.#folder = folder
    this.#replaced = replaced
    this.#globals = globals
  }

  /** The module that declares an export; replaced declarations are omitted. */
  exportsOf(path) {
    const found = new Map()
    for (const name of this.#module(path).exports.keys()) {
      const place = this.#resolve(path, name)
      if (place !== undefined && place.replacement === undefined) found.set(name, place)
    }
    return found
  }

  /** Gives a declaration its name in the result: the preferred one, or another when that is taken. */
  name(place, wanted) {
    let name = wanted
    for (let count = 2; this.#taken.has(name); count++) name = `${wanted}${count}`
    this.#taken.add(name)
    this.#names.set(keyOf(place), name)
    return name
  }

  /** Adds a declaration with its dependencies; returns its name. */
  include(place) {
    if (place.replacement !== undefined) return place.replacement
    const key = keyOf(place)
    const name = this.#names.get(key) ?? this.name(place, place.name)
    if (this.#pieces.has(key)) return name
    this.#pieces.set(key, [])
    const module = this.#module(place.path)
    const pieces = module.locals.get(place.name).map((statement) => this.#rendered(module, statement, name))
    this.#pieces.set(key, pieces)
    return name
  }

  text(exported) {
    const lines = []
    for (const [key, pieces] of this.#pieces)
      for (const { comment, code } of pieces) lines.push(`${comment}${exported.has(key) ? 'export ' : ''}${code}`)
    return lines.join('\n')
  }

  #rendered(module, { node, comment }, name) {
    const edits = [{ start: idOf(node).start, end: idOf(node).start + idOf(node).name.length, text: name }]
    const bound = new Set()
    walk(node, (each) => {
      if (each.type === 'TSTypeParameter') bound.add(each.name.name ?? each.name)
    })
    walk(node, (each) => edits.push(...this.#referenceEdits(module, each, bound)))
    let code = module.text.slice(node.start, node.end)
    for (const { start, end, text } of edits.toSorted((a, b) => b.start - a.start))
      code = code.slice(0, start - node.start) + text + code.slice(end - node.start)
    const isType = node.type === 'TSInterfaceDeclaration' || node.type === 'TSTypeAliasDeclaration'
    return { comment, code: isType || code.startsWith('declare ') ? code : `declare ${code}` }
  }

  #referenceEdits(module, node, bound) {
    if (node.type === 'TSImportType') {
      const place = this.#resolve(this.#pathOf(module, node.source.value), leftmost(node.qualifier).name)
      return [{ start: node.start, end: leftmost(node.qualifier).end, text: this.include(place) }]
    }
    const identifier = referenceOf(node)
    if (identifier?.type !== 'Identifier' || bound.has(identifier.name)) return []
    const place = this.#resolveLocal(module, identifier.name)
    const text = place === undefined ? this.#globals[identifier.name] : this.include(place)
    return text === undefined ? [] : [{ start: identifier.start, end: identifier.end, text }]
  }

  /** The declaration of an export of a module. */
  #resolve(path, name) {
    const module = this.#module(path)
    const replacement = this.#replaced(module.name, name)
    if (replacement !== undefined) return { path, name, replacement }
    const found = module.exports.get(name)
    if (found === undefined) throw new Error(`${module.name} does not export ${name}`)
    return found.from === undefined ? this.#resolveLocal(module, found.name) : this.#resolve(found.from, found.name)
  }

  /** The declaration that a name refers to in a module; undefined for a global one. */
  #resolveLocal(module, name) {
    if (module.locals.has(name)) {
      const replacement = this.#replaced(module.name, name)
      return { path: module.path, name, ...(replacement === undefined ? {} : { replacement }) }
    }
    const imported = module.imports.get(name)
    return imported === undefined ? undefined : this.#resolve(imported.from, imported.name)
  }

  #pathOf(module, source) {
    return join(dirname(module.path), source.replace(/\.ts$/, '.d.ts'))
  }

  #module(path) {
    const known = this.#modules.get(path)
    if (known !== undefined) return known
    if (!existsSync(path))
      throw new Error(`there are no declarations in ${path}: a dependency of the package is not known`)
    const text = readFileSync(path, 'utf8')
    const { program, comments } = parseSync(path, text)
    const name = relative(this.#folder, path).replace(/\.d\.ts$/, '')
    const module = { path, name, text, locals: new Map(), imports: new Map(), exports: new Map() }
    this.#modules.set(path, module)
    for (const statement of program.body) this.#take(module, statement, comments)
    return module
  }

  #take(module, statement, comments) {
    if (statement.type === 'ImportDeclaration')
      for (const { local, imported } of statement.specifiers)
        module.imports.set(local.name, { from: this.#pathOf(module, statement.source.value), name: imported.name })
    else if (statement.type === 'ExportNamedDeclaration' && statement.declaration === null) {
      const from = statement.source === null ? undefined : this.#pathOf(module, statement.source.value)
      for (const { local, exported } of statement.specifiers)
        module.exports.set(exported.name, { from, name: local.name })
    } else {
      const node = statement.declaration ?? statement
      const { name } = idOf(node)
      const before = comments.findLast(
        ({ end, value }) =>
          end <= statement.start && value.startsWith('*') && module.text.slice(end, statement.start).trim() === '',
      )
      const comment = before === undefined ? '' : `/*${before.value}*/\n`
      module.locals.set(name, [...(module.locals.get(name) ?? []), { node, comment }])
      if (statement.type === 'ExportNamedDeclaration') module.exports.set(name, { from: undefined, name })
    }
  }
}

const idOf = (node) => (node.type === 'VariableDeclaration' ? node.declarations[0].id : node.id)

const leftmost = (node) => (node.type === 'TSQualifiedName' ? leftmost(node.left) : node)

/** The identifier with which a node refers to a declaration. */
function referenceOf(node) {
  switch (node.type) {
    case 'TSTypeReference':
      return leftmost(node.typeName)
    case 'TSTypeQuery':
      return leftmost(node.exprName)
    case 'TSInterfaceHeritage':
    case 'TSClassImplements':
      return node.expression
    case 'ClassDeclaration':
      return node.superClass
    case 'TSPropertySignature':
    case 'PropertyDefinition':
      return node.computed ? node.key : undefined
    default:
      return undefined
  }
}

function walk(node, visit) {
  if (Array.isArray(node)) for (const each of node) walk(each, visit)
  else if (typeof node === 'object' && node !== null) {
    if (typeof node.type === 'string') visit(node)
    for (const part of Object.values(node)) walk(part, visit)
  }
}
