/** Words that comments and pages do without: they leave open who acts (docs/glossary.md, CONTRIBUTING.md). */
const vague = ['nobody', 'somebody', 'anybody', 'whoever', 'whomever', 'whom', 'hears', 'heard', 'spoke']
export const vagueWord = new RegExp(`\\b(${vague.join('|')})\\b`, 'i')

const opening = /^\*[\s*]*(What|Where|So|Of)\b/
const riddle = /\b(where absent|goes on|believes|is given)\b/i

/** Makes an ESLint rule that refuses comments in which `find` finds a word. */
const wordRule = (message, find) => ({
  meta: { type: 'suggestion', schema: [], messages: { vague: message } },
  create: ({ sourceCode, report }) => ({
    Program() {
      for (const { loc, value } of sourceCode.getAllComments()) {
        const word = find(value)
        if (word !== undefined) report({ loc, messageId: 'vague', data: { word } })
      }
    },
  }),
})

export const vocabulary = wordRule(
  'say who acts, in the words of docs/glossary.md, instead of "{{word}}"',
  (comment) => vagueWord.exec(comment)?.[0],
)

export const openings = wordRule(
  'begin with a verb or a noun phrase (docs/style.md) instead of "{{word}}"',
  (comment) => opening.exec(comment)?.[1],
)

/** Refuses expressions of doc comments; texts of `@limit` and `@tuning` are those of docs/limits.md. */
export const riddles = wordRule('say it as an engineer does (docs/style.md) instead of "{{word}}"', (comment) => {
  const text = comment.replace(/@(limit|tuning) [^]*/, '').replace(/\s*\n\s*\*\s*/g, ' ')
  return comment.startsWith('*') ? riddle.exec(text)?.[0] : undefined
})
