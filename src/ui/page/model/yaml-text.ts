// An object as YAML, in the form that kubectl prints: fields are sorted. Texts that YAML would read as another type are quoted.

const plain = /^[A-Za-z_/][\w./@+=-]*(?: [\w./@+=()-]+)*$/ // linear: each part begins with a space
const otherType = /^(?:true|false|yes|no|on|off|null|y|n|~)$/i

export function yamlText(value: unknown, indent = ''): string {
  if (Array.isArray(value))
    return value.length === 0 ? `${indent}[]\n` : value.map((item) => itemText(item, indent)).join('')
  if (typeof value === 'object' && value !== null) {
    const fields = Object.entries(value)
      .filter(([, field]) => field !== undefined)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
    return fields.length === 0
      ? `${indent}{}\n`
      : fields.map(([name, field]) => fieldText(name, field, indent)).join('')
  }
  return `${indent}${scalarText(value, indent)}\n`
}

const isNested = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && Object.keys(value).length > 0

function fieldText(name: string, value: unknown, indent: string): string {
  const key = `${indent}${scalarText(name, indent)}:`
  if (!isNested(value)) return `${key} ${scalarText(value, indent)}\n`
  // Items of a list are not indented below their field, as in kubectl's output.
  return `${key}\n${yamlText(value, Array.isArray(value) ? indent : `${indent}  `)}`
}

function itemText(item: unknown, indent: string): string {
  if (!isNested(item)) return `${indent}- ${scalarText(item, indent)}\n`
  return `${indent}- ${yamlText(item, `${indent}  `).slice(indent.length + 2)}`
}

function scalarText(value: unknown, indent: string): string {
  if (typeof value !== 'string') return JSON.stringify(value)
  if (value.includes('\n') && !/[\r\t]| \n/.test(value) && !value.startsWith(' ')) return blockText(value, indent)
  return plain.test(value) && !otherType.test(value) ? value : JSON.stringify(value)
}

/** A literal block; the sign after the bar keeps or removes the last line break. */
function blockText(text: string, indent: string): string {
  const sign = text.endsWith('\n\n') ? '+' : text.endsWith('\n') ? '' : '-'
  const lines = text.replace(/\n$/, '').split('\n')
  return `|${sign}\n${lines.map((line) => (line === '' ? '' : `${indent}  ${line}`)).join('\n')}`
}
