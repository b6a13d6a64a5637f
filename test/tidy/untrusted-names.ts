// Finds properties that are read or set under a name that is only known at run time: `table[name]`, `name in table`. A
// client may send `constructor` or `__proto__`, so such accesses go through base/lookup.ts or a Map. The type of the name
// decides: a literal type is a constant of this source, a number is an index. A comment `safe name: reason` exempts a
// line, and `safe names: reason` before the imports exempts a file.
import { API, type Project } from 'typescript/unstable/sync'
import { SyntaxKind, type Node, type SourceFile } from 'typescript/unstable/ast'

/** TypeFlags.String of the compiler: any text, as opposed to a literal. */
const stringFlag = 32

interface Access {
  readonly node: Node
  readonly object: Node
  readonly name: Node
  readonly isWrite: boolean
  /** The loops around it, as `name of the variable → text of what is iterated`. */
  readonly loops: readonly (readonly [variable: string, iterated: string])[]
}

/** `path:line text`, for the files of the project that `isChecked` chooses. */
export function untrustedNames(root: string, configFile: string, isChecked: (path: string) => boolean): string[] {
  const api = new API({ cwd: root })
  try {
    const [project] = api.updateSnapshot({ openProjects: [`${root}${configFile}`] }).getProjects()
    if (project === undefined) throw new Error(`${configFile} is no project`)
    return project.program
      .getSourceFileNames()
      .filter((file) => file.startsWith(root) && isChecked(file.slice(root.length)))
      .toSorted()
      .flatMap((file) => inFile(project, file, file.slice(root.length)))
  } finally {
    api.close()
  }
}

function inFile({ program, checker }: Project, file: string, path: string): string[] {
  const source = program.getSourceFile(file)
  if (source === undefined) return []
  if (/^\/\/ safe names: \S/m.test(source.text.slice(0, source.text.indexOf('\nimport ')))) return []
  const accesses = accessesIn(source).filter((access) => !isOwnName(access, source))
  if (accesses.length === 0) return []
  const types = checker.getTypeAtLocation(accesses.map(({ name }) => name))
  const lines = source.text.split('\n')
  return accesses.flatMap(({ node }, index) => {
    if (((types[index]?.flags ?? 0) & stringFlag) === 0) return []
    const line = source.text.slice(0, node.getStart(source)).split('\n').length
    const isExempt = /\/\/ safe names?: \S/.test(`${lines[line - 2] ?? ''}\n${lines[line - 1] ?? ''}`)
    return isExempt ? [] : [`${path}:${line} ${textOf(node, source).replaceAll(/\s+/g, ' ')}`]
  })
}

function accessesIn(source: SourceFile): Access[] {
  const found: Access[] = []
  const visit = (node: Node, parent: Node | undefined, loops: Access['loops']): void => {
    const { kind, expression, argumentExpression, left, right, operatorToken, initializer } = node as Node & {
      readonly [
        field in 'expression' | 'argumentExpression' | 'left' | 'right' | 'operatorToken' | 'initializer'
      ]?: Node
    }
    if (kind === SyntaxKind.ElementAccessExpression && expression && argumentExpression) {
      const { left: target, operatorToken: operator } = (parent ?? {}) as { left?: Node; operatorToken?: Node }
      const isWrite = target === node && operator?.kind === SyntaxKind.EqualsToken
      // Deleting a property never affects the prototype.
      if (parent?.kind !== SyntaxKind.DeleteExpression)
        found.push({ node, object: expression, name: argumentExpression, isWrite, loops })
    }
    if (operatorToken?.kind === SyntaxKind.InKeyword && left && right)
      found.push({ node, object: right, name: left, isWrite: false, loops })
    const isLoop = kind === SyntaxKind.ForInStatement || kind === SyntaxKind.ForOfStatement
    const inner: Access['loops'] =
      isLoop && initializer && expression
        ? [...loops, [textOf(initializer, source), textOf(expression, source)]]
        : loops
    node.forEachChild((child) => visit(child, node, inner))
  }
  visit(source, undefined, [])
  return found
}

/** Whether a loop took the name from this object: then it is an own property. */
const isOwnName = ({ object, name, isWrite, loops }: Access, source: SourceFile): boolean => {
  const record = textOf(object, source)
  const key = textOf(name, source)
  return (
    !isWrite &&
    loops.some(
      ([variable, iterated]) =>
        (variable === `const ${key}` && [record, `Object.keys(${record})`].includes(iterated)) ||
        (variable.startsWith(`const [${key}`) && iterated === `Object.entries(${record})`),
    )
  )
}

const textOf = (node: Node, source: SourceFile): string => source.text.slice(node.getStart(source), node.end)
