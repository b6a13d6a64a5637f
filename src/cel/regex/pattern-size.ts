// The size of a pattern after its repetitions are expanded, which is what compiling it costs.

/** An upper bound of the number of instructions. Syntax errors are not noticed: the compiler reports them. */
export function patternSize(pattern: string): number {
  /** The sizes of the enclosing groups so far. */
  const outer: number[] = []
  let size = 0
  let last = 0
  const addAtom = (atom: number) => {
    size += last
    last = atom
  }
  for (let at = 0; at < pattern.length; at++) {
    switch (pattern[at]) {
      case '\\':
        at++
        addAtom(1)
        break
      case '[':
        at = classEnd(pattern, at)
        addAtom(1)
        break
      case '(':
        addAtom(0)
        outer.push(size)
        size = 0
        break
      case ')': {
        const group = size + last + 1
        size = outer.pop() ?? 0
        last = group
        break
      }
      case '{': {
        repetition.lastIndex = at
        const [whole, min = '', max = ''] = repetition.exec(pattern) ?? []
        if (whole === undefined) addAtom(1)
        else {
          last = (last + 1) * Math.max(1, Number(min), Number(max))
          at += whole.length - 1
        }
        break
      }
      default:
        addAtom(1)
    }
  }
  return outer.reduce((sum, each) => sum + each, size + last)
}

const repetition = /\{(\d{1,9})(?:,(\d{0,9}))?\}/y

/** The index of the bracket that ends a class. */
function classEnd(pattern: string, start: number): number {
  let at = start + 1
  if (pattern[at] === '^') at++
  if (pattern[at] === ']') at++
  for (; at < pattern.length && pattern[at] !== ']'; at++) if (pattern[at] === '\\') at++
  return at
}
