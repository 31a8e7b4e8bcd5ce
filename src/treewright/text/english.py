"""What English writing does that no rule foretells: abbreviations, contractions, affixes.

Owns the tables that `words` and `sentences` share; lower case throughout, apostrophes straight.
"""

from __future__ import annotations


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Titles and their kind: a name or a number follows, so no sentence ends after them.
TITLES = _words(
    """
    adm atty brig capt cmdr col cpl dr drs esq fr gen gov hon lt maj messrs mlle mme mr mrs
    ms mx prof rep rev revd sen sens reps sgt sr st ste supt msgr pvt dept al approx c ca cf
    e.g eds eg eq eqs fig figs i.e ie nos op p pp vol vols viz vs v mt ft rd nr u.s.s h.m.s
    """
)

# Those that a sentence may also end with. The period stays with the word even there, as in Penn's
# treebanks, for there is only one.
ABBREVIATIONS = TITLES | _words(
    """
    a.d a.k.a a.m b.a b.c b.c.e b.sc b.s c.e d.c d.phil e.u l.a m.a m.b.a m.d m.phil m.sc
    m.s n.b n.d n.y p.a p.m p.o p.s ph.d phd r.i.p r.s.v.p u.k u.n u.s u.s.a u.s.s.r v.p
    assn assoc ave bldg blvd bros co comp conn corp ctr div ed est etc ext feat ffm gmbh
    govt hwy inc incl inst intl jr lab ltd max mfg min misc mfr natl pct pl plc pty refrig
    sc str tel temp tr univ voc ala ariz ark calif cal colo conn del fla ga ill ind kan kans
    ken ky la md mich minn miss mo mont neb nev okla ont ore pa penn tenn tex va vt wash wis
    wyo jan feb mar apr jun jul aug sept sep oct nov dec mon tue tues wed thu thur thurs fri
    sat sun hrs hr mins sec secs yr yrs mos wk wks lbs oz tbsp tsp qt gal sq cu
    """
)

# Words of their own as well: abbreviations only before a number or with a capital, and never at
# the end of a sentence.
AMBIGUOUS = _words(
    """
    no fig figs art ed op sun sat wed mar mon fri dec del ill ind la pa miss mo wash max min
    sec co comp cal gal lab est ext str temp div mt ft rd p c pl cu sc fr ca ga va md str tr
    eq mos ore
    """
)

# Months, days and such take a number after them, so a sentence hardly ends there before one.
BEFORE_NUMBERS = _words(
    """
    no nos fig figs eq eqs art p pp vol vols op sec ch c ca approx jan feb mar apr jun jul
    aug sept sep oct nov dec
    """
)

# Words of which the first letters are a word of their own: `gon|na`.
CONTRACTIONS: dict[str, tuple[int, ...]] = {
    "cannot": (3,),
    "gonna": (3,),
    "wanna": (3,),
    "gotta": (3,),
    "lotta": (3,),
    "gimme": (3,),
    "lemme": (3,),
    "dunno": (2, 3),
    "'tis": (2,),
    "'twas": (2,),
    "'twere": (2,),
    "d'you": (2,),
    "d'ya": (2,),
    "y'all": (2,),
    "c'mon": (3,),
    **{
        verb + "nt": (len(verb),)
        for verb in _words(
            "did do does is was were would could should have has had are ai must need"
        )
    },
}
CLITICS = ("n't", "'s", "'m", "'d", "'re", "'ve", "'ll")
WITH_APOSTROPHE = _words("em cause cuz cos til bout n tis twas twere nuff neath tween round im er")

# Hyphenated words that stay whole where others are split (the guidelines of English treebanks
# since 2004): these affixes, and interjections.
PREFIXES = _words(
    """
    anti co counter cross e ex inter mid mini non post pre pro proto re semi socio sub super
    u arch ante bi contra de electro extra hyper infra intra macro mega meta micro mis mono
    multi para peri pseudo supra trans tri ultra uber vice
    """
)
SUFFIXES = _words("esque ette fest fold gate ish itis less ness rama wise")
INTERJECTIONS = _words(
    "ah aha ay eh ha haha hee heh hm hmm hm m mhm mm mmm na nah nuh nun oh oho ooh oops uh uhh um"
    " umm un unh whoo woo hoo ho huh hum ya yo"
)

# Units that are written against their number and are words of their own: `5|km`.
UNITS = _words(
    "am pm km cm mm nm kg mg g lb lbs oz ft mph kph hz khz mhz ghz kb mb gb tb kw kwh ml"
)

# Last parts of names of hosts and files: no sentence begins after their period.
DOTTED_ENDS = _words(
    """
    com org net edu gov mil int info biz io uk ca au nz de fr nl ie eu jp cn ru br ch dk pl
    tv txt csv tsv json xml html htm php asp py js ts cpp hpp java rb rs exe dll zip gz tar
    pdf doc docx xls xlsx ppt pptx jpg jpeg png gif svg mp3 mp4 avi toml yaml yml cfg ini
    mrg
    """
)

# Words that begin sentences far more often than they follow an abbreviation with a capital.
STARTERS = _words(
    """
    a after all also although an and another any are as at be because before both but by can
    could did do does each even every few finally first for from had has have he her here
    his how however i i'd i'll i'm i've if in indeed instead is it it's its just last later
    let like many may maybe meanwhile more moreover most much my next no nor not now of on
    once one only or other our perhaps please she should since so some soon still such than
    thanks that that's the their then there there's therefore these they they're this those
    though through thus to today too two under until upon was we we're well were what what's
    when where whether which while who why will with without would yes yet you you're your
    """
)

# Words that go on after no abbreviation, so that even in lower case, as in a chat, they begin a
# sentence.
PRONOUNS = _words("he i i'd i'll i'm i've it's she she's that's then they they're we we're you")
