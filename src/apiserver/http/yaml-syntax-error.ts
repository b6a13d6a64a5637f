// yamlSyntaxError: what is wrong with a text that is not YAML. The frequent errors have the wording of Go's parser.
import type { LineCounter, YAMLParseError } from 'yaml'

export function yamlSyntaxError({ code, message, pos }: YAMLParseError, text: string, lines: LineCounter): string {
  const [summary = ''] = message.split(' at line ', 1)
  if (/^Flow (map|sequence) .*end with/.test(summary)) return atEnd(text, unclosed(text, summary))
  if (code === 'BLOCK_AS_IMPLICIT_KEY') {
    // The second colon is the error.
    const line = lines.linePos(text.indexOf(': ', pos[0])).line
    return `yaml: ${line > 1 ? `line ${line}: ` : ''}mapping values are not allowed in this context`
  }
  if (summary.startsWith('Missing closing')) return 'yaml: found unexpected end of stream'
  if (code === 'TAB_AS_INDENT' || summary.startsWith('Plain value cannot start'))
    return 'yaml: found character that cannot start any token'
  return `yaml: line ${lines.linePos(pos[0]).line}: ${summary}`
}

/** After the beginning of a list or map, or a separator, Go's parser expects a value. */
const unclosed = (text: string, summary: string): string =>
  /[[{,:]$/.test(text.trimEnd())
    ? 'did not find expected node content'
    : `did not find expected ',' or '${summary.startsWith('Flow map') ? '}' : ']'}'`

const atEnd = (text: string, problem: string): string => `yaml: line ${text.trimEnd().split('\n').length}: ${problem}`
