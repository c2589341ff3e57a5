extension CommonPasswords {
  /// Those that begin with one of the letters from m.
  static let fromM = """
    m1234567 m123456789 mackenzie mackenzie1 madagascar madeleine madeline madeline1 madison1 madison2 madonna1
    magdalena maggie01 maggie12 maggie123 magic123 magnolia mahalkita makaveli makayla1 makemoney maksimka malaysia
    mallorca mama1234 mamapapa mammamia manager1 manchester manchesterunited manning18 manunited maprchem56458 maradona
    marathon marcello marek14michal margaret margaret1 margarita margarita1 margherita maria123 mariana1 marianna
    marianne marie123 marihuana marijuana marijuana1 marilyn1 marines1 marino13 mario123 mariposa mariposa1 marissa1
    marjorie marketing marlboro marlboro1 married1 marseille marshall marshall1 martin123 martinez martinez1 maryjane
    maryjane1 maryland mash4077 master12 master123 mastermind matahari matematica mathilde matthew1 matthew2 matthias
    maurice1 mauricio maurizio maverick maverick1 maximilian maximus1 maxwell1 mazafaka mazda323 mazda626 mazdarx7
    mckenzie meandyou meatball mechanical medicina medicine mega_pizdetz666 megadeth megaman1 megan123 megaparol
    megaparol12345 megasecret melanie1 melinda1 melissa1 memphis1 mercedes mercedes1 mercury1 meredith mersedes
    messenger metal666 metallica metallica1 mexican1 mexico10 mexico12 mexico123 mexico13 miami305 michael1 michael12
    michael123 michael2 michael23 michael3 michael7 michaela michaeljackson micheal1 michele1 michelle michelle1
    michelle12 michelle2 michigan michigan1 mickey12 mickey123 mickeymouse microlab microsoft microsoft1 midnight
    midnight1 migrationschool mike1234 milagros mileycyrus milkshake million2 millwall minecraft miracle1 miranda1
    mission1 mississipp mississippi missy123 mitchell mitchell1 mittens1 mnbvcxz1 mobster1 mohammad mohammed molly123
    mollydog mommy123 monalisa monamour money100 money123 moneymaker moneyman moneyman1 mongoose monique1 monkey01
    monkey10 monkey101 monkey11 monkey12 monkey123 monkey13 monkey21 monkey22 monkey23 monkey69 monkeys1 monopoly
    monster1 monster123 monsters montana1 montgom2409 montreal moonlight moonlight1 morning21 morpheus morrison
    motdepasse mother123 motherfucker motherlode motocross motocross1 motorola motorola1 mountain mountain1 mrf11277215
    ms0083jxj muhammad multiplelog munchkin munchkin1 mushroom music101 music123 musicman mustang1 mustang2 mustangs
    my2girls my3girls myfamily mylove123 mymother mynameis mypassword myspace! myspace. myspace.co myspace01 myspace08
    myspace09 myspace1 myspace10 myspace101 myspace11 myspace12 myspace123 myspace13 myspace2 myspace22 myspace23
    myspace3 myspace4 myspace5 myspace69 myspace7 myspace8 myspace9 nacional napoleon naruto12 naruto123 nascar24
    nascar88 natalia1 natalie1 natasha1 nathalie nathaniel nathaniel1 national naughty1 navigator ncc1701a ncc1701d
    ncc1701e network1 networking neveragain nevermind newcastle newcastle1 newlife1 neworleans12345 newpassword newport1
    newstart newyork1 nicholas nicholas1 nichole1 nickjonas1 nicolas1 nicole01 nicole11 nicole12 nicole123 nicole13
    nightmare nightmare1 nightwish nikki123 nintendo nintendo1 nintendo64 nirvana1 nks230kjs82 noisette nokia123
    nokia5800 nokia6300 nokian70 nokian73 nokian95 nonmember noodles1 nopassword northside1 notebook nothing1 nounours
    november november1 november11 nuttertools nyq28giz1z oakland1 oblivion ocpoook325 october1 october10 ohiostate1
    ohmnamah23 oklahoma oklahoma1 olayinka oliveira oluwaseun omarion1 omsairam onelove1 onepiece opensesame orange12
    orange123 ordinateur original orlando1 oscar123 overlord owt243ygbj p0o9i8u7 p3rat54797 p455w0rd p4ssw0rd p@ssw0rd
    p@ssword pa55w0rd pa55word packers1 packers4 paintball paintball1 pakistan pakistan1 pakistan123 pallmall panasonic
    pancakes panda123 pandora1 pantera1 panther1 panthers panthers1 papamama papillon paradise paradise1 paramore
    paramore1 parola12 pass1234 pass1word passer2009 passer2011 passion1 passport passport1 passw0rd password password!
    password. password0 password00 password01 password08 password09 password1 password10 password11 password12
    password123 password1234 password12345 password123456 password13 password14 password15 password2 password21
    password22 password23 password24 password3 password4 password5 password6 password69 password7 password8 password88
    password9 password99 passwords passwort passwort1 patches1 patience patricia patricia1 patrick1 patriots patriots1
    pavilion pavilion1 pazzword123 pe#5gz29ptzmse peace123 peaches1 peanut12 peanuts1 pearljam pebbles1 peekaboo
    penelope penguin1 penguins penis123 pepper12 pepper123 pepsi123 perfect1 personal peter123 peterpan peterpan1
    phantom1 pharmacy philippe phillip1 phoenix1 pickles1 pictures pikachu1 pimpdaddy1 pineapple pineapple1 pingpong
    pinkfloyd pirates1 pitbull1 pizza123 pk3x7w9w platinum platinum1 playboy1 playboy123 playboy69 player69 playstation
    playstation3 pleasure plymouth pok29q6666 pokemon1 pokemon12 pokemon123 pokemon2 polniypizdec0211 polniypizdec1102
    polniypizdec110211 poohbear poohbear1 popcorn1 poptart1 porkchop porkchop1 pornstar pornstar1 porsche1 porsche911
    portland portugal portugal1 poseidon positive pothead1 pothead420 power123 preciosa precious precious1 predator
    presario president preston1 prettyboy1 prettygirl primavera princesa princesa1 princesita princess princess!
    princess01 princess1 princess10 princess11 princess12 princess13 princess14 princess2 princess21 princess22
    princess23 princess3 princess4 princess5 princess7 princesse principessa priscilla private1 priyanka professional
    professor progress project1 projectsadminx puertorico pumpkin1 punisher punkrock punkrock1 puppies1 puppy123
    puppylove1 purple11 purple12 purple123 purple13 pussy123 pussycat pussycat1 q1234567 q123456789 q1w2e3r4 q1w2e3r4t5
    q1w2e3r4t5y6 q1w2e3r4t5y6u7i8o9p0 q2w3e4r5 qarglr123 qawsedrf qaz123456 qazwsx12 qazwsx123 qazwsxedc qazwsxedc1
    qazwsxedc123 qazwsxedcrfv qazwsxedcrfvtgb qazxsw123 qazxswedc qdujvyg5sxa qq123456 qqww1122 qti7zxh18u qw123321
    qw123456 qwaszx12 qwe1122334 qwe12345 qwe123456 qwe123qwe qweasd123 qweasdzxc qweasdzxc1 qweasdzxc123 qwegta13091990
    qweqwe123 qwerqwer2 qwert123 qwerty11 qwerty12 qwerty123 qwerty13 qwerty321 qwerty666 qwerty69 qwerty77 qwerty777
    qwerty78 qwertyu1 qwertyui1 qwertyuio1 qwertyuiop1 qwertyuiop123 r2d2c3po racecar1 rachael1 rachelle radiohead
    ragnarok raiders1 raiderz1 rainbow1 rainbow6 rainbows rammstein rammstein1 rangers1 rastaman raymond1 rdfhnbhf
    realmadrid rebecca1 rebelde1 rebound1 redalert redbull1 redhead1 redneck1 redskins redskins1 redwings redwings1
    register remember remember1 remington renegade research reset123 resident respect1 revenge1 revolution rfnthbyf
    rhbcnbyf rhfcjnrf rhiannon ricardo1 riccardo richard1 richmond rjycnfynby roadrunner robert12 robert123 roberto1
    robinhood robinson rochelle rockets1 rocknroll rocknroll1 rockstar rockstar1 rocky123 rodriguez rodriguez1 rolltide
    rolltide1 romashka ronaldinho ronaldo1 ronaldo7 ronaldo9 rooney10 rooster1 rootbeer rootbeer1 rosebud1 rosemary
    roxanne1 runescape runescape1 rush2112 russell1 s123456789 s8ylpe9jdpvym sabrina1 sadie123 sagitario sailormoon
    salvador salvador1 salvation salvatore samantha samantha1 samantha12 sammy123 sample123 sampson1 samsung1 samsung123
    sanchez1 sandiego sandiego1 sandman1 sandrine sandy123 santana1 santiago santiago1 sapphire sarah123 sasha123
    sassy123 satan666 satellite saturday savannah savannah1 sayangku scarface scarface1 scarlett schalke04 school12
    school123 scoobydoo scoobydoo1 scooter1 scooter2 scorpio1 scorpion scorpion1 scotland scotland1 scrappy1 scruffy1
    sdf7asdf6asdg8df seattle1 sebastian sebastian1 sebastien secret123 secret666 security security1 semperfi semperfi1
    senha123 senior08 senior09 seniseviyorum sentnece sephiroth september september1 september2 serenity serenity1
    seventeen sexy1234 sexybeast1 sexybitch sexybitch1 sexyboy1 sexygirl sexygirl1 sexylady sexylady1 sexylove1 sexymama
    sexymama1 sexyman1 shadow01 shadow11 shadow12 shadow123 shadow13 shakira1 shamrock shanghai shannon1 sharingan
    sherlock shinigami shirley1 shitface1 shithead shithead1 shopping shopping1 shorty12 shorty13 shotgun1 showtime
    silverado simon123 simpleplan simpson1 simpsons simpsons1 singapore sk84life sk8board sk8ordie skate123 skate4life
    skateboard skater12 skater123 skeeter1 skipper1 skittles skittles1 skorpion skyline1 skywalker slayer666 slimshady
    slipknot slipknot1 slipknot6 smackdown smackdown1 smallville smile123 smile4me smoke420 snickers snickers1 snoopdog
    snowball snowball1 snowboard snowboard1 snowflake snowflake1 snowman1 snuggles snuggles1 soccer09 soccer10 soccer101
    soccer11 soccer12 soccer123 soccer13 soccer14 soccer15 soccer16 soccer17 soccer18 soccer19 soccer21 soccer22
    soccer23 socrates softball softball1 softball12 software sojdlg123aljg soldier1 solomon1 solution somanypickles27
    something something1 sonyericsson sooners1 souljaboy1 soulmate southpark southpark1 southside southside1 sparkle1
    sparkles spartan1 spartan117 spartans special1 spectrum spencer1 spiderman spiderman1 spiderman2 spiderman3 spitfire
    spitfire1 spongebob spongebob1 spongebob2 sporting springer squirrel srinivas ssyu1314 stalker1 stallion standard
    stanley1 star1234 starbucks starbucks1 starcraft starcraft1 stardust starfish stargate stargate1 starlight start123
    startfinding startrek starwars starwars1 starwarsfan10 steelers steelers1 steelers7 stefangreil1983 stefania
    stefanie stellina stephane stephanie stephanie1 stephen1 sterling sterling1 stewart1 stingray stonecold stoner420
    stranger stratfor strawberry strength student1 stunt101 su123456 sublime1 success1 suckmydick sullivan summer01
    summer06 summer07 summer08 summer09 summer10 summer11 summer12 summer123 summer69 summertime sundance sunflower
    sunflower1 sunny123 sunshine sunshine1 sunshine12 sunshine2 sunshine3 sunshine7 super123 superfly supergirl superman
    superman1 superman12 superman2 superman3 superman7 supernova superstar superstar1 sureno13 surfing1 surside13
    survivor svetlana sweet123 sweetheart sweetie1 sweetness sweetness1 sweetpea sweetpea1 swimmer1 swimming swimming1
    swordfish swordfish1 sylvester syncmaster sz9kqcctwy tabitha1 tacobell tacobell1 taekwondo taishan2011 target123
    tarheels tarheels1 tatiana1 taylor01 taylor12 taylor123 tazmania teacher1 teamo123 techn9ne technics teddy123
    teddybear teddybear1 teiubesc telechargement telefono telephone television temitope temp1234 temppass temppassword
    tequiero tequila1 terminator terrell1 test1234 testing1 testing123 testpass thailand thankgod thankyou thebest1
    thegame1 thegreat123 theking1 theodore theresa1 therock1 thesims2 thirteen thirteen13 thomas01 thomas12 thomas123
    thomas22 thompson thug4life thuglife thuglife1 thumper1 thunder1 thursday tiffany1 tiger123 tigger01 tigger12
    tigger123 timothy1 tinkerbell titanic1 tnk0mk16vx together tokiohotel tommy123 tomorrow tootsie1 topolino topsecret
    toshiba1 total12scherz tottenham tottenham1 toulouse training treasure trfnthbyf trigger1 trinidad trinity1 trinity3
    triskelion tristan1 trombone trooper1 trouble1 trucker1 truelove truelove1 trumpet1 trustno1 ttd955audg tweetybird
    twilight twilight1 twister1 ty2t1hv3oc tyler123 u1v7hhh7ef uhfybn8888 ultimate umbrella underground undertaker
    unicorn1 univers2l universal universe university unknown1 uqa9ebw445 uvgx8f8232 vacation vaffanculo valencia
    valentin valentina valentine valentine1 valentino valerie1 vampire1 vampires vancouver vanessa1 vanilla1 vendetta
    venezuela verbatim verizon1 veronica veronica1 veronika veronique vfhufhbnf vfitymrf vfrcbvrf vfvfgfgf victoria
    victoria1 victory1 viewsonic vikings1 viktoria viktoriya vincent1 vincenzo violetta viphv5j736 virginia virginia1
    virginie vkontakte vladimir vladislav vodafone volkswagen volleyball voyager1 vqsablpzla vrbgqns997 w5txn36alfw
    w66yrybgra wachtwoord waheguru wallace1 walmart1 wangyut2 warcraft warcraft1 warcraft3 warhammer warrior1 warriors
    warriors1 warszawa washington water123 waterfall waterloo watermelon webhompass webster1 wednesday welcome1
    welcome12 welcome123 welcome2 wellington werewolf westham1 westlife westside westside1 westwood whatever whatever!
    whatever1 whatsup1 whatthezor whiskers whiskey1 whitney1 whocares wildcat1 wildcats wildcats1 william1 william2
    william3 williams williams1 windows1 windows7 winston1 woaini1314 wolfgang wolfpack wolverine wolverine1 wonderful
    wonderful1 wonderland woodstock wordpass wordpass1 wow12345 wrangler wrestling wrestling1 x3luym2mmj x4ivyga51f
    xiang123456 y6p67ftrqj yagjecc826 yahoo.com yahoo123 yahoomail yamahar1 yamahar6 yandi20080527 yankees1 yankees13
    yankees2 yellow12 yellow123 yfcntymrf yfdbufnjh10305070 yfdbufnjh63 yolanda1 yomomma1 youandme youbye123 youngmoney
    yourmom1 yousuck1 youtube1 yuantuo2012 z1x2c3v4 zacefron1 zachary1 zag12wsx zaq12wsx zaq1xsw2 zaqwsxcde zaqxswcde
    zeppelin zxasqw12 zxcasdqwe zxcasdqwe123 zxcvb123 zxcvbnm1 zxcvbnm12 zxcvbnm123

    """
}
